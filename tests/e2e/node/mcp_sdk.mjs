// An agent with the client of the Model Context Protocol's SDK: it knows the URL of the MCP server and nothing else, finds out from the 401
// how to be authorized, calls a tool, refreshes its token, and asks for a wider scope after a 403.

import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const known = {}
const provider = {
    redirectUrl: config.redirect_uri,
    clientMetadata: {
        client_name: 'Agent',
        redirect_uris: [config.redirect_uri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: config.method,
    },
    clientMetadataUrl: config.document,
    clientInformation: () => known.client,
    saveClientInformation: (client) => { known.client = client },
    tokens: () => known.tokens,
    saveTokens: (tokens) => { known.tokens = tokens },
    saveCodeVerifier: (verifier) => { known.verifier = verifier },
    codeVerifier: () => known.verifier,
    redirectToAuthorization: (url) => send({ authorize: url.href }),
}

/// What `act(client)` returns, after the user has consented if that is necessary.
async function with_consent(act) {
    for (let consents = 0; ; ++consents) {
        const transport = new StreamableHTTPClientTransport(new URL(config.server), { authProvider: provider })
        const client = new Client({ name: 'agent', version: '1.0' })
        try {
            await client.connect(transport)
            return await act(client)
        } catch (error) {
            check(error instanceof UnauthorizedError && consents === 0, `a demand for authorization, not ${error}`)
            await transport.finishAuth(new URL((await receive()).location).searchParams.get('code'))
        } finally {
            await client.close()
        }
    }
}

const text_of = (result) => result.content[0].text

const tools = await with_consent((client) => client.listTools())
send({ tools: tools.tools.map((each) => each.name), client_id: known.client.client_id, scope: known.tokens.scope })
send({ balance: text_of(await with_consent((client) => client.callTool({ name: 'get_balance' }))) })

const first = known.tokens
known.tokens = { ...first, access_token: first.access_token.slice(0, -1) + '_' } // as if it had expired
await with_consent((client) => client.callTool({ name: 'get_balance' }))
check(known.tokens.access_token !== first.access_token, 'a token from a refresh')
send({ refreshed: true })

delete known.tokens.refresh_token // the SDK would refresh, which brings no wider scope
send({ accounts: text_of(await with_consent((client) => client.callTool({ name: 'list_accounts' }))), scope: known.tokens.scope })
process.exit(0)
