-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables below the folder "tables", and what rank.sql asks, for ClickHouse.
CREATE VIEW crash AS SELECT * FROM file('tables/*/crash.jsonl.zst', 'JSONEachRow',
	'crash String, release Nullable(String), build_id Nullable(String), time_ns Nullable(UInt64), verdict Nullable(String), function Nullable(String), reason Nullable(String), signature Nullable(String)');
CREATE VIEW function AS SELECT * FROM file('tables/*/function.jsonl.zst', 'JSONEachRow',
	'crash String, function String, name String, module Nullable(String), branches UInt64, calls UInt64');
CREATE VIEW edge AS SELECT * FROM file('tables/*/edge.jsonl.zst', 'JSONEachRow',
	'crash String, "from" Nullable(String), from_offset Nullable(UInt64), "to" Nullable(String), to_offset Nullable(UInt64), count UInt64');
CREATE VIEW value AS SELECT * FROM file('tables/*/value.jsonl.zst', 'JSONEachRow',
	'crash String, step UInt64, what String, function String, "offset" Nullable(UInt64), insn Nullable(String), class String');
