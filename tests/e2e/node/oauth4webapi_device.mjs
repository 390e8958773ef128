// The device flow with panva's oauth4webapi, and a resource server that introspects the device's token.

import * as oauth from 'oauth4webapi'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const issuer = new URL(config.issuer)
const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
const server = await oauth.processDiscoveryResponse(issuer, discovered)
const client = { client_id: config.client_id }

const authorization = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope: config.scope })
const device = await oauth.processDeviceAuthorizationResponse(server, client, authorization)

async function poll() {
    return oauth.processDeviceCodeResponse(
        server,
        client,
        await oauth.deviceCodeGrantRequest(server, client, oauth.None(), device.device_code),
    )
}
send({ user_code: device.user_code, verification_uri: device.verification_uri, interval: device.interval })
await receive() // the user has decided
const tokens = await poll()
check(tokens.refresh_token, 'a refresh token')
let refusal
try {
    await poll()
} catch (error) {
    refusal = error
}
check(refusal instanceof oauth.ResponseBodyError, `a refusal, not ${refusal}`)
const response = await oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(config.balance_url))

const service = { client_id: config.service_id }
const introspected = await oauth.processIntrospectionResponse(
    server,
    service,
    await oauth.introspectionRequest(server, service, oauth.ClientSecretBasic(config.service_secret), tokens.access_token),
)
send({
    balance: (await response.json()).balance,
    scope: tokens.scope,
    error: refusal.error,
    active: introspected.active,
    client_id: introspected.client_id,
})
process.exit(0)
