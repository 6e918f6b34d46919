-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a feature is, once for all that show it.
SELECT DISTINCT feature, kind, place, place_offset, target, target_offset, site FROM present
