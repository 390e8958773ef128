// The authorization code flow with panva's openid-client, which registers itself first.

import * as client from 'openid-client'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const server = await client.dynamicClientRegistration(
    new URL(config.issuer),
    { client_name: 'Registers itself', redirect_uris: [config.redirect_uri], token_endpoint_auth_method: config.method, scope: config.scope },
    { none: client.None(), client_secret_basic: undefined, client_secret_post: undefined }[config.method],
    { algorithm: 'oauth2', initialAccessToken: config.initial_access_token },
)
const metadata = server.clientMetadata()
check(metadata.registration_access_token && metadata.registration_client_uri, 'a registration that can be managed')
check(Boolean(metadata.client_secret) === (config.method !== 'none'), 'a secret of a confidential client')

const verifier = client.randomPKCECodeVerifier()
const authorize = client.buildAuthorizationUrl(server, {
    redirect_uri: config.redirect_uri,
    scope: config.scope,
    resource: config.resource,
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
})
send({ authorize: authorize.href, client_id: metadata.client_id })
const tokens = await client.authorizationCodeGrant(server, new URL((await receive()).location), { pkceCodeVerifier: verifier },
    { resource: config.resource })
const response = await client.fetchProtectedResource(server, tokens.access_token, new URL(config.balance_url), 'GET')
const refreshed = await client.refreshTokenGrant(server, tokens.refresh_token, { resource: config.resource })
check(refreshed.access_token !== tokens.access_token, 'a new access token')
send({ balance: (await response.json()).balance, scope: tokens.scope })
process.exit(0)
