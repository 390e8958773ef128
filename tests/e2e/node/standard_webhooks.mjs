// Verifies a webhook with the reference library of the Standard Webhooks specification.

import { Webhook } from 'standardwebhooks'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const hook = new Webhook(config.secret)
const verified = hook.verify(config.body, config.headers)

let forged = 'accepted'
try {
    hook.verify(config.body.replace('site', 'Site'), config.headers)
} catch {
    forged = 'refused'
}

const at = new Date(Number(config.headers['webhook-timestamp']) * 1000)
const signature = hook.sign(config.headers['webhook-id'], at, config.body)
check(signature.startsWith('v1,'), 'a signature of version 1')
send({ verified, forged, signature })
process.exit(0)
