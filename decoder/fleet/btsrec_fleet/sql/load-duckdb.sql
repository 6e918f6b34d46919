-- SPDX-License-Identifier: GPL-2.0-or-later
-- The tables below the folder "tables", and what rank.sql asks, for DuckDB.
CREATE VIEW crash AS SELECT * FROM read_json('tables/*/crash.jsonl.zst', columns = {
	crash: 'VARCHAR', release: 'VARCHAR', build_id: 'VARCHAR', time_ns: 'UBIGINT',
	verdict: 'VARCHAR', function: 'VARCHAR', reason: 'VARCHAR', signature: 'VARCHAR'});
CREATE VIEW function AS SELECT * FROM read_json('tables/*/function.jsonl.zst', columns = {
	crash: 'VARCHAR', function: 'VARCHAR', name: 'VARCHAR', module: 'VARCHAR',
	branches: 'UBIGINT', calls: 'UBIGINT'});
CREATE VIEW edge AS SELECT * FROM read_json('tables/*/edge.jsonl.zst', columns = {
	crash: 'VARCHAR', "from": 'VARCHAR', from_offset: 'UBIGINT', "to": 'VARCHAR',
	to_offset: 'UBIGINT', count: 'UBIGINT'});
CREATE VIEW value AS SELECT * FROM read_json('tables/*/value.jsonl.zst', columns = {
	crash: 'VARCHAR', step: 'UBIGINT', what: 'VARCHAR', function: 'VARCHAR',
	"offset": 'UBIGINT', insn: 'VARCHAR', class: 'VARCHAR'});
