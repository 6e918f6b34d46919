-- SPDX-License-Identifier: GPL-2.0-or-later
-- The groups of the crashes that label has, by all that it has of them.
SELECT 'signature' AS grouped_by, l.signature AS name, sum(l.crashes) AS crashes,
       min(nullif(l.first_ns, 0)) AS first_ns, max(l.last_ns) AS last_ns,
       count(DISTINCT l.kernel) AS kernels, min(l.verdict) AS verdict,
       count(DISTINCT l.verdict) AS verdicts
FROM label l WHERE l.healthy = 0 GROUP BY l.signature
UNION ALL
SELECT 'culprit' AS grouped_by, l.culprit AS name, sum(l.crashes) AS crashes,
       min(nullif(l.first_ns, 0)) AS first_ns, max(l.last_ns) AS last_ns,
       count(DISTINCT l.kernel) AS kernels, min(l.verdict) AS verdict,
       count(DISTINCT l.verdict) AS verdicts
FROM label l WHERE l.healthy = 0 GROUP BY l.culprit
UNION ALL
SELECT 'site' AS grouped_by, l.site AS name, sum(l.crashes) AS crashes,
       min(nullif(l.first_ns, 0)) AS first_ns, max(l.last_ns) AS last_ns,
       count(DISTINCT l.kernel) AS kernels, min(l.verdict) AS verdict,
       count(DISTINCT l.verdict) AS verdicts
FROM label l WHERE l.healthy = 0 GROUP BY l.site
UNION ALL
SELECT 'kernel' AS grouped_by, l.kernel AS name, sum(l.crashes) AS crashes,
       min(nullif(l.first_ns, 0)) AS first_ns, max(l.last_ns) AS last_ns,
       count(DISTINCT l.kernel) AS kernels, min(l.verdict) AS verdict,
       count(DISTINCT l.verdict) AS verdicts
FROM label l WHERE l.healthy = 0 GROUP BY l.kernel
