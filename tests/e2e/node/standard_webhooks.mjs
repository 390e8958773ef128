// What receivers on Node check webhooks with: the reference library of the Standard Webhooks specification.

import { Webhook } from 'standardwebhooks'
import { check, hear, say } from './talk.mjs'

const told = await hear()
const hook = new Webhook(told.secret)
const verified = hook.verify(told.body, told.headers)

let forged = 'taken'
try {
    hook.verify(told.body.replace('site', 'Site'), told.headers)
} catch {
    forged = 'refused'
}

const at = new Date(Number(told.headers['webhook-timestamp']) * 1000)
const signature = hook.sign(told.headers['webhook-id'], at, told.body)
check(signature.startsWith('v1,'), 'a signature of version 1')
say({ verified, forged, signature })
process.exit(0)
