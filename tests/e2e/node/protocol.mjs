// The protocol between these scripts and the tests: each message is one line of JSON, on standard input and standard output.

import { createInterface } from 'node:readline'
import { webcrypto } from 'node:crypto'

globalThis.crypto ??= webcrypto // Node 18 has it only as a module

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

export async function receive() {
    const { value, done } = await lines.next()
    if (done) throw new Error('standard input ended')
    return JSON.parse(value)
}

export function send(message) {
    process.stdout.write(JSON.stringify(message) + '\n')
}

export function check(condition, expectation) {
    if (!condition) throw new Error(`expected: ${expectation}`)
}
