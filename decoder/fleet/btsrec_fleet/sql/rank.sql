-- SPDX-License-Identifier: GPL-2.0-or-later
-- How well each feature tells one side from the other.
--
-- present has what each member shows, side which side it is on: bad 1 the group, 0 what it is
-- compared with; both count crashes, because a member may stand for several that are alike.
--
-- Ochiai (da Silva Meyer 2004, Abreu 2006): the cosine of "shows it" and "is bad".
-- Tarantula (Jones 2002): the rate among the bad, of the rates of both sides.
-- Increase (Liblit 2005): how much more often a crash is bad that shows it than one that reached
-- its site.
WITH hits AS (
	SELECT p.feature AS feature,
	       sum(CASE WHEN s.bad = 1 THEN p.crashes ELSE 0 END) AS bad,
	       sum(CASE WHEN s.bad = 1 THEN 0 ELSE p.crashes END) AS good
	FROM present p JOIN side s ON p.member = s.member
	GROUP BY p.feature
), totals AS (
	SELECT sum(CASE WHEN bad = 1 THEN crashes ELSE 0 END) AS nr_bad,
	       sum(CASE WHEN bad = 1 THEN 0 ELSE crashes END) AS nr_good
	FROM side
), counted AS (
	SELECT f.kind AS kind, f.place AS place, f.place_offset AS place_offset,
	       f.target AS target, f.target_offset AS target_offset,
	       1.0 * h.bad AS bad, 1.0 * h.good AS good,
	       1.0 * t.nr_bad AS nr_bad, 1.0 * t.nr_good AS nr_good,
	       CASE WHEN coalesce(o.bad + o.good, 0) = 0 THEN 1.0 * t.nr_bad
	            ELSE 1.0 * o.bad END AS site_bad,
	       CASE WHEN coalesce(o.bad + o.good, 0) = 0 THEN 1.0 * t.nr_good
	            ELSE 1.0 * o.good END AS site_good
	FROM hits h
	JOIN feature f ON h.feature = f.feature
	LEFT JOIN hits o ON f.site = o.feature
	CROSS JOIN totals t
)
SELECT kind, place, place_offset, target, target_offset, bad, good, nr_bad, nr_good,
       bad / sqrt(nr_bad * (bad + good)) AS ochiai,
       (bad / nr_bad) / (bad / nr_bad + good / nr_good) AS tarantula,
       bad / (bad + good) - site_bad / (site_bad + site_good) AS increase
FROM counted
WHERE nr_bad > 0 AND nr_good > 0
