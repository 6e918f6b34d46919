-- SPDX-License-Identifier: GPL-2.0-or-later
-- What a crash shows: functions that ran, edges that were taken, and where values came from.
--
-- The text of a feature is the same on every machine.  The site of an edge is the function that it
-- leaves: without that the edge could not be taken.
SELECT DISTINCT crash AS member,
       'function' AS kind,
       'function ' || function AS feature,
       function AS place,
       0 AS place_offset,
       '' AS target,
       0 AS target_offset,
       '' AS site,
       1 AS crashes
FROM function
WHERE branches > 0 OR calls > 0
UNION ALL
SELECT DISTINCT crash AS member,
       'edge' AS kind,
       'edge ' || coalesce("from", '') || '+' || CAST(coalesce(from_offset, 0) AS VARCHAR)
               || ' ' || coalesce("to", '') || '+' || CAST(coalesce(to_offset, 0) AS VARCHAR)
               AS feature,
       coalesce("from", '') AS place,
       coalesce(from_offset, 0) AS place_offset,
       coalesce("to", '') AS target,
       coalesce(to_offset, 0) AS target_offset,
       CASE WHEN coalesce("from", '') = '' THEN '' ELSE 'function ' || "from" END AS site,
       1 AS crashes
FROM edge
UNION ALL
SELECT DISTINCT crash AS member,
       'value' AS kind,
       'value ' || function || '+' || CAST(coalesce("offset", 0) AS VARCHAR) AS feature,
       function AS place,
       coalesce("offset", 0) AS place_offset,
       '' AS target,
       0 AS target_offset,
       '' AS site,
       1 AS crashes
FROM value
WHERE what <> 'asked' AND class <> 'unknown'
