// What is seen of a page: every request that it makes, what the console says, its looks at every size, and axe.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
// What depends on sizes and colours; the rest is as true of one as of all.
const rules_of_looks = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable', 'region']
const widths = [1280, 360, 320] // 320 is also what 1280 become for who reads at 400 %
const height = 900

export class Eyes {
    constructor(page, { hosts, shots, thorough }) {
        this.page = page
        this.shots = shots
        this.thorough = thorough
        this.findings = []
        this.looks = 0
        page.on('request', (request) => {
            const url = new URL(request.url())
            if (url.protocol !== 'data:' && !hosts.includes(url.host)) this.find(`a request to ${url.host}`)
        })
        // What a request was answered is checked where it is made; that the console repeats it is no news.
        page.on('console', (message) => {
            if (!message.text().startsWith('Failed to load resource: the server responded')) this.find(`the console: ${message.text()}`)
        })
        page.on('pageerror', (error) => this.find(`a script failed: ${error}`))
        page.on('requestfailed', (request) => this.find(`no answer: ${request.url()} ${request.failure().errorText}`))
        page.on('response', (response) => {
            if (response.status() >= 400 && !response.request().isNavigationRequest()) this.find(`${response.status()} for ${response.url()}`)
        })
    }

    find(what) {
        this.findings.push(`${new URL(this.page.url()).pathname}: ${what}`)
    }

    /// Light and dark, at every width: nothing to scroll sideways, nothing that axe knows better, and a picture.
    async look(name) {
        this.looks++
        if (!this.thorough) return
        await this.page.evaluate(axe)
        let runOnly = { type: 'tag', values: tags }
        for (const colorScheme of ['light', 'dark']) {
            await this.page.emulateMedia({ colorScheme })
            for (const width of widths) {
                await this.page.setViewportSize({ width, height })
                const where = `${name}_${colorScheme}_${width}`
                const { wider, violations } = await this.page.evaluate(async (options) => ({
                    wider: document.documentElement.scrollWidth - innerWidth,
                    violations: (await globalThis.axe.run(document, options)).violations.map((each) =>
                        `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`),
                }), { runOnly, resultTypes: ['violations'] })
                if (wider > 0) this.find(`${where}: ${wider} pixels too wide`)
                for (const each of violations) this.find(`${where}: ${each}`)
                if (width !== widths.at(-1)) await this.page.screenshot({ path: join(this.shots, `${where}.png`), fullPage: true })
                runOnly = { type: 'rule', values: rules_of_looks }
            }
        }
        await this.page.emulateMedia({ colorScheme: 'light' })
        await this.page.setViewportSize({ width: widths[0], height })
    }
}
