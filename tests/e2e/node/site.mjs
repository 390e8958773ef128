// Visits pages of the documents' site in two sizes and both color schemes, searches once, and sends what it finds wrong.

import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { receive, send } from './protocol.mjs'

const config = await receive()
const browser = await chromium.launch({ executablePath: config.chromium, args: process.getuid() === 0 ? ['--no-sandbox'] : [] })
const findings = []
for (const width of [390, 1280])
    for (const scheme of ['light', 'dark']) {
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme })
        context.setDefaultTimeout(config.seconds * 1000)
        const page = await context.newPage()
        const at = () => `${page.url()} ${width} ${scheme}`
        page.on('request', (request) => {
            if (!request.url().startsWith(config.site) && !request.url().startsWith('data:')) findings.push(`${at()}: requests ${request.url()}`)
        })
        page.on('response', (response) => {
            if (response.status() >= 400) findings.push(`${at()}: ${response.status()} for ${response.url()}`)
        })
        page.on('pageerror', (error) => findings.push(`${at()}: ${error}`))
        for (const name of config.pages) {
            await page.goto(config.site + name)
            const { beyond, is_dark } = await page.evaluate(() => {
                const canvas = document.createElement('canvas').getContext('2d')
                canvas.fillStyle = getComputedStyle(document.body).color
                const luminance = parseInt(canvas.fillStyle.slice(1, 3), 16)
                return { beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth, is_dark: luminance > 127 }
            })
            if (beyond > 0) findings.push(`${at()}: ${beyond} pixels beyond the width`)
            if (is_dark !== (scheme === 'dark')) findings.push(`${at()}: has the colors of the other scheme`)
            if (config.screenshots) await page.screenshot({ path: join(config.screenshots, `${name.replaceAll('/', '-')}-${width}-${scheme}.png`) })
            process.stderr.write(`${at()}\n`)
        }
        await page.goto(config.site + 'index.html')
        if (width === 390) await page.locator('label[for="__search"].md-header__button').click()
        await page.locator('.md-search__input').focus()
        await page.keyboard.type(config.searched)
        await page.locator('.md-search-result__item a').first().waitFor()
        await context.close()
    }
await browser.close()
send(findings)
process.exit(0)
