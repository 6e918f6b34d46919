-- SPDX-License-Identifier: GPL-2.0-or-later
-- What groups are made of: a row for each crash.
--
-- Healthy: nothing stopped the recorder but the reader.  The culprit is the function of the last
-- step of btsrec why that makes a value; loads and moves pass one on, and so does PUSH, by which a
-- function keeps what is in a register of its caller.  Without one it is the function of the fault.
SELECT c.crash AS member,
       1 AS crashes,
       CASE WHEN coalesce(c.reason, '') = '' THEN 1 ELSE 0 END AS healthy,
       coalesce(c.signature, '') AS signature,
       coalesce(nullif(v.culprit, ''), c.function, '') AS culprit,
       coalesce(c.function, '') AS site,
       coalesce(c.release, '') AS kernel,
       coalesce(c.verdict, '') AS verdict,
       coalesce(c.time_ns, 0) AS first_ns,
       coalesce(c.time_ns, 0) AS last_ns
FROM crash c
LEFT JOIN (SELECT s.crash AS crash, max(s.function) AS culprit
           FROM value s
           JOIN (SELECT crash, max(step) AS step
                 FROM value
                 WHERE what NOT IN ('asked', 'loaded', 'moved', 'indexed') AND class <> 'unknown'
                       AND coalesce(insn, '') NOT LIKE 'push %'
                 GROUP BY crash) l ON s.crash = l.crash AND s.step = l.step
           GROUP BY s.crash) v ON c.crash = v.crash
