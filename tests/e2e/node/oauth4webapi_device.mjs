// A device, and a resource server that is asked about its token, as panva's oauth4webapi goes it.

import * as oauth from 'oauth4webapi'
import { check, hear, say } from './talk.mjs'

const told = await hear()
const issuer = new URL(told.issuer)
const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' })
const server = await oauth.processDiscoveryResponse(issuer, discovered)
const client = { client_id: told.client_id }

const asked = await oauth.deviceAuthorizationRequest(server, client, oauth.None(), { scope: told.scope })
const device = await oauth.processDeviceAuthorizationResponse(server, client, asked)

async function poll() {
    return oauth.processDeviceCodeResponse(
        server,
        client,
        await oauth.deviceCodeGrantRequest(server, client, oauth.None(), device.device_code),
    )
}
say({ user_code: device.user_code, verification_uri: device.verification_uri, interval: device.interval })
await hear() // the user has answered
const tokens = await poll()
check(tokens.refresh_token, 'a refresh token')
let refusal
try {
    await poll()
} catch (error) {
    refusal = error
}
check(refusal instanceof oauth.ResponseBodyError, `a refusal, not ${refusal}`)
const response = await oauth.protectedResourceRequest(tokens.access_token, 'GET', new URL(told.balance_url))

const service = { client_id: told.service_id }
const introspected = await oauth.processIntrospectionResponse(
    server,
    service,
    await oauth.introspectionRequest(server, service, oauth.ClientSecretBasic(told.service_secret), tokens.access_token),
)
say({
    balance: (await response.json()).balance,
    scope: tokens.scope,
    error: refusal.error,
    active: introspected.active,
    client_id: introspected.client_id,
})
process.exit(0)
