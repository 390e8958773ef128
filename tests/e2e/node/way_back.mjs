// People on their way through the authorization pages and back to an application, in a browser that keeps to every field
// of every page: through an application that redirects to another origin of its own, and in a window that it opened.

import { createServer } from 'node:http'
import { chromium } from 'playwright-core'
import { hear, say } from './talk.mjs'

const told = await hear()

/** A server of an application's, at an origin of its own. */
const serve = async (answer) => {
    const server = createServer(answer)
    await new Promise((ready) => server.listen(0, '127.0.0.1', ready))
    return `http://127.0.0.1:${server.address().port}`
}
const page = (answer, html) => {
    answer.setHeader('Content-Type', 'text/html')
    answer.end(`<!doctype html><title>App</title>${html}`)
}
const home = await serve((_, answer) => page(answer, 'Welcome'))
const app = await serve((asked, answer) => {
    if (asked.url.startsWith('/window')) return page(answer, '<script>window.opener?.postMessage("back", "*")</script>')
    if (!asked.url.startsWith('/callback')) return page(answer, '<script>onmessage = (said) => document.title = said.data</script>')
    answer.writeHead(302, { Location: home })
    answer.end()
})

say({ callback: `${app}/callback`, window: `${app}/window` })
const clients = await hear()
const findings = []
const browser = await chromium.launch({
    executablePath: told.chromium,
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
})
const context = await browser.newContext({ ignoreHTTPSErrors: true })
context.setDefaultTimeout(told.seconds * 1000)

const address = (client, path = '/en/user/oauth/', scope = 'user:balance') =>
    `${told.auth}${path}?${new URLSearchParams({ client_id: client, response_type: 'code', scope })}`
const signIn = async (where, button = 'main button') => {
    await where.fill('#login', told.login)
    await where.fill('#password', told.password)
    await where.click(button)
}
const walk = async (name, steps) => {
    await context.clearCookies()
    const opened = await context.newPage()
    try {
        await steps(opened)
    } catch (error) {
        findings.push(`${name}: ${error.message.split('\n')[0]} at ${opened.url()}`)
    }
    await opened.close()
}

await walk('consent', async (where) => {
    await where.goto(address(clients.callback))
    await signIn(where)
    await where.click('button[value=allow]')
    await where.waitForURL(`${home}/**`)
})
await walk('signing in where consent was given before', async (where) => {
    await where.goto(address(clients.callback))
    await signIn(where)
    await where.waitForURL(`${home}/**`)
})
await walk('sign-in and consent on one page', async (where) => {
    await where.goto(address(clients.callback, '/en/itemplatform/oauth/', 'itemplatform:read'))
    await signIn(where, 'button[value=allow]')
    await where.waitForURL(`${home}/**`)
})
await walk('a window that the application opened', async (where) => {
    await where.goto(app)
    const waits = context.waitForEvent('page')
    await where.evaluate((url) => void window.open(url), address(clients.window))
    const window = await waits
    await signIn(window)
    await window.click('button[value=allow]')
    await where.waitForFunction(() => document.title === 'back')
    await window.close()
})

await browser.close()
say({ findings })
process.exit(0)
