# SPDX-License-Identifier: GPL-2.0-or-later
"""The one exception of the driver."""


class Failure(Exception):
    """A test failed or the machine could not be made; the text says why, for a human."""


class Skip(Exception):
    """A test cannot be run here; the text says what is missing."""
