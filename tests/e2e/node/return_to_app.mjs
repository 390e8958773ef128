// Users authorize an application in a real browser, which applies the security policies of each page: the application
// redirects to another origin, or has opened the authorization page in a window.

import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import { receive, send } from './protocol.mjs'

const config = await receive()

/** Starts a server of the application. Returns its origin. */
const serve = async (handler) => {
    const server = createServer(handler)
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready))
    return `http://127.0.0.1:${server.address().port}`
}
const page = (response, html) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<!doctype html><title>App</title>${html}`)
}
const home = await serve((_, response) => page(response, 'Welcome'))
const app = await serve((request, response) => {
    if (request.url.startsWith('/window')) return page(response, '<script>window.opener?.postMessage("back", "*")</script>')
    if (!request.url.startsWith('/callback')) return page(response, '<script>onmessage = (event) => document.title = event.data</script>')
    response.writeHead(302, { Location: home })
    response.end()
})

send({ callback: `${app}/callback`, window: `${app}/window` })
const clients = await receive()
const findings = []
const browser = await chromium.launch({
    executablePath: config.chromium,
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
})
const context = await browser.newContext({ ignoreHTTPSErrors: true })
context.setDefaultTimeout(config.seconds * 1000)

const address = (client, path = '/en/user/oauth/', scope = 'user:balance') =>
    `${config.auth}${path}?${new URLSearchParams({ client_id: client, response_type: 'code', scope })}`
const signIn = async (tab, button = 'main button') => {
    await tab.fill('#login', config.login)
    await tab.fill('#password', config.password)
    await tab.click(button)
}
const run = async (name, steps) => {
    await context.clearCookies()
    const tab = await context.newPage()
    try {
        await steps(tab)
    } catch (error) {
        findings.push(`${name}: ${error.message.split('\n')[0]} at ${tab.url()}`)
    }
    await tab.close()
}

await run('consent', async (tab) => {
    await tab.goto(address(clients.callback))
    await signIn(tab)
    await tab.click('button[value=allow]')
    await tab.waitForURL(`${home}/**`)
})
await run('sign-in after an earlier consent', async (tab) => {
    await tab.goto(address(clients.callback))
    await signIn(tab)
    await tab.waitForURL(`${home}/**`)
})
await run('sign-in and consent on one page', async (tab) => {
    await tab.goto(address(clients.callback, '/en/itemplatform/oauth/', 'itemplatform:read'))
    await signIn(tab, 'button[value=allow]')
    await tab.waitForURL(`${home}/**`)
})
await run('a window that the application opened', async (tab) => {
    await tab.goto(app)
    const opened = context.waitForEvent('page')
    await tab.evaluate((url) => void window.open(url), address(clients.window))
    const window = await opened
    await signIn(window)
    await window.click('button[value=allow]')
    await tab.waitForFunction(() => document.title === 'back')
    await window.close()
})

await browser.close()
send({ findings })
process.exit(0)
