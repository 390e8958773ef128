// How these scripts and the tests talk: one line of JSON each way.

import { createInterface } from 'node:readline'
import { webcrypto } from 'node:crypto'

globalThis.crypto ??= webcrypto // Node 18 has it in a module alone

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]()

export async function hear() {
    const { value, done } = await lines.next()
    if (done) throw new Error('nobody there')
    return JSON.parse(value)
}

export function say(what) {
    process.stdout.write(JSON.stringify(what) + '\n')
}

export function check(holds, what) {
    if (!holds) throw new Error(`not so: ${what}`)
}
