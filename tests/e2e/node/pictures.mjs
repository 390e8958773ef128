// Takes the pictures of the documents with one browser, and sends the names of their files.

import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { check, receive, send } from './protocol.mjs'

const config = await receive()
const browser = await chromium.launch({
    executablePath: config.chromium,
    // No other host name resolves.
    args: [`--host-resolver-rules=MAP ${config.host}:443 127.0.0.1:${config.port}, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1`, ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
})
const context = await browser.newContext({ ignoreHTTPSErrors: true, bypassCSP: true, colorScheme: 'light', deviceScaleFactor: 1.25, locale: 'en-US' })
context.setDefaultTimeout(config.seconds * 1000)
const page = await context.newPage()

await page.goto(`${config.auth}/en/user/sign_in/`)
await page.locator('[name="login"]').fill(config.login)
await page.locator('[name="password"]').fill(config.password)
await Promise.all([page.waitForNavigation(), page.locator('[name="password"]').press('Enter')])

// The pages may have the color of the document that shows them. Their own policy forbids to add styles.
const frame = 'body::after { content: ""; position: fixed; inset: 0; border: 1px solid #8c959f; pointer-events: none; z-index: 9 }'
const names = []
for (const { name, path, width, height, scheme } of config.pictures) {
    await page.setViewportSize({ width, height })
    await page.emulateMedia({ colorScheme: scheme })
    const response = await page.goto(config.auth + path)
    check(response.status() === 200, `200 at ${path}, not ${response.status()}`)
    check(page.url() === config.auth + path, `${path}, not ${page.url()}`)
    await page.screenshot({ path: join(config.folder, name), style: frame })
    names.push(name)
}
await browser.close()
send(names)
process.exit(0)
