// SPDX-License-Identifier: GPL-2.0-or-later
// usage: node dap-client.mjs NODE-MODULES ADAPTER DUMP
// The client with which Microsoft tests debug adapters opens DUMP, steps back from the fault, goes
// forward to it, and looks at frames, registers, code and memory.  Prints a line for each.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import assert from "node:assert";

const [modules, adapter, dump] = process.argv.slice(2);
const name = "@vscode/debugadapter-testsupport";
const { DebugClient } = createRequire(modules + "/")(name);
const { version } = JSON.parse(readFileSync(`${modules}/${name}/package.json`));
console.log(`${name} ${version}`);

const client = new DebugClient("python3", adapter, "btsrec");
client.defaultTimeout = 60000;

async function say(what) {
	const { stackFrames } = (await client.stackTraceRequest({ threadId })).body;
	console.log(`${what}: ${stackFrames.slice(0, 3).map((frame) => frame.name).join(" < ")}`);
	return stackFrames[0];
}

async function step(request, reason) {
	const [event] = await Promise.all([client.waitForEvent("stopped"), request]);
	assert.equal(event.body.reason, reason);
}

await client.start();
const { body } = await client.initializeRequest();
assert(body.supportsStepBack && body.supportsDisassembleRequest);
await Promise.all([client.waitForEvent("initialized"), client.launchRequest({ dump })]);
const [stopped] = await Promise.all([client.waitForEvent("stopped"),
	client.configurationDoneRequest()]);
assert.equal(stopped.body.reason, "exception");
console.log(`stopped: ${stopped.body.text}`);
const { threadId } = stopped.body;
const fault = await say("at the fault");
await step(client.stepBackRequest({ threadId, granularity: "instruction" }), "step");
const before = await say("a step back");
assert.notEqual(before.instructionPointerReference, fault.instructionPointerReference);
await step(client.reverseContinueRequest({ threadId }), "step");
await say("the oldest place");
await step(client.continueRequest({ threadId }), "exception");
const again = await say("forward again");
assert.equal(again.instructionPointerReference, fault.instructionPointerReference);
const { scopes } = (await client.scopesRequest({ frameId: again.id })).body;
const { variables } = (await client.variablesRequest(
	{ variablesReference: scopes[0].variablesReference })).body;
console.log(`${scopes[0].name}: ${variables.slice(0, 2).map(
	(variable) => `${variable.name}=${variable.value}`).join(" ")}`);
const code = (await client.send("disassemble", {
	memoryReference: fault.instructionPointerReference, instructionCount: 1 })).body;
console.log(`code: ${code.instructions[0].address} ${code.instructions[0].instruction}`);
const memory = (await client.send("readMemory", {
	memoryReference: fault.instructionPointerReference, count: 3 })).body;
console.log(`memory: ${Buffer.from(memory.data, "base64").toString("hex")}`);
await assert.rejects(client.evaluateRequest({ expression: "1" }), /no expression is evaluated/);
await client.stop();
process.exit(0);
