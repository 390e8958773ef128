// Inspects pages: their requests, the console, the layout at each size, and axe's report.

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']
// The rules that depend on sizes and colors. One run of the others is enough.
const layout_rules = ['color-contrast', 'link-in-text-block', 'target-size', 'scrollable-region-focusable', 'region']
const widths = [1280, 640, 320] // 640 and 320 are also 1280 with a zoom of 200 and 400 %
const height = 900
const target_min = 24 // pixels, WCAG 2.2, 2.5.8

/// Runs in the page: links and controls outside of sentences that are smaller than `size_min` pixels.
function small_targets(size_min) {
    return [...document.querySelectorAll('a[href]:not(.skip), button, input:not([type=hidden]), select, textarea, summary')]
        .filter((each) => each.checkVisibility() && !each.closest('p, dd'))
        .filter((each) => {
            const { width, height } = each.getBoundingClientRect()
            return width < size_min || height < size_min
        })
        .map((each) => each.outerHTML.slice(0, 120))
}

export class Inspector {
    /// `screenshots`: the folder for them, or null. `narrow`: only at the smallest width.
    constructor(page, { hosts, screenshots, thorough, narrow }) {
        this.page = page
        this.screenshots = screenshots
        this.thorough = thorough
        this.narrow = narrow
        this.findings = []
        this.inspected = 0
        page.on('request', (request) => {
            const url = new URL(request.url())
            if (url.protocol !== 'data:' && !hosts.includes(url.host)) this.add_finding(`a request to ${url.host}`)
        })
        // Statuses are checked below and by the steps; the console only repeats them.
        page.on('console', (message) => {
            if (!message.text().startsWith('Failed to load resource: the server responded')) this.add_finding(`the console: ${message.text()}`)
        })
        page.on('pageerror', (error) => this.add_finding(`a script failed: ${error}`))
        // An icon that is still loading when the browser leaves the page is not missing.
        const was_aborted = (request) => request.url().endsWith('.svg') && request.failure().errorText === 'net::ERR_ABORTED'
        page.on('requestfailed', (request) => was_aborted(request) || this.add_finding(`no response: ${request.url()} ${request.failure().errorText}`))
        page.on('response', (response) => {
            if (response.status() >= 400 && !response.request().isNavigationRequest()) this.add_finding(`${response.status()} for ${response.url()}`)
        })
    }

    add_finding(text) {
        this.findings.push(`${new URL(this.page.url()).pathname}: ${text}`)
    }

    /// Light and dark, at each width: no horizontal scrolling, no violation that axe finds.
    async inspect(name) {
        this.inspected++
        console.error(`inspecting ${name}`)
        const shown = await this.page.evaluate(() =>
            [...document.querySelectorAll('[hidden]')].filter((each) => each.checkVisibility()).map((each) => each.outerHTML))
        for (const each of shown) this.add_finding(`${name}: hidden, but visible: ${each}`)
        if (!this.thorough) return
        await this.page.evaluate(axe)
        let runOnly = { type: 'tag', values: tags }
        for (const colorScheme of this.narrow ? ['light'] : ['light', 'dark']) {
            await this.page.emulateMedia({ colorScheme })
            for (const width of this.narrow ? widths.slice(-1) : widths) {
                await this.page.setViewportSize({ width, height })
                const view = `${name}_${colorScheme}_${width}`
                const { wider, violations } = await this.page.evaluate(async (options) => ({
                    wider: document.documentElement.scrollWidth - innerWidth,
                    violations: (await globalThis.axe.run(document, options)).violations.map((each) =>
                        `${each.id}: ${each.nodes.map((node) => `${node.html} ${node.failureSummary}`).join('; ')}`),
                }), { runOnly, resultTypes: ['violations'] })
                if (wider > 0) this.add_finding(`${view}: ${wider} pixels too wide`)
                for (const each of violations) this.add_finding(`${view}: ${each}`)
                for (const each of await this.page.evaluate(small_targets, target_min)) this.add_finding(`${view}: a small target: ${each}`)
                if (this.screenshots && (this.narrow || width !== widths.at(-1)))
                    await this.page.screenshot({ path: join(this.screenshots, `${view}.png`), fullPage: true })
                runOnly = { type: 'rule', values: layout_rules }
            }
        }
        await this.page.emulateMedia({ colorScheme: 'light' })
        await this.page.setViewportSize({ width: widths[0], height })
        if (this.narrow) return
        await this.inspect_print(name)
        await this.inspect_preferences(name)
    }

    /// In print: no controls that only work on a screen, and the full width of the sheet.
    async inspect_print(name) {
        await this.page.emulateMedia({ media: 'print' })
        const { printed, width } = await this.page.evaluate(() => ({
            printed: [...document.querySelectorAll('nav, .actions, .heading button')].filter((each) => each.checkVisibility()).map((each) => each.outerHTML),
            width: document.querySelector('main').getBoundingClientRect().width,
        }))
        for (const each of printed) this.add_finding(`${name}: in print: ${each.slice(0, 120)}`)
        if (width < 400) this.add_finding(`${name}: in print: ${width} pixels wide`)
        await this.page.emulateMedia({ media: 'screen' })
    }

    /// With forced colors, which remove backgrounds: each control has a visible border. With reduced motion: nothing moves.
    async inspect_preferences(name) {
        await this.page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' })
        const { borderless, moving } = await this.page.evaluate(() => {
            const all = [...document.querySelectorAll('*')].filter((each) => each.checkVisibility())
            const controls = all.filter((each) => each.matches('button:not(.link), .button, input:not([type=hidden]), select, textarea'))
            const has_border = (style) => style.borderTopStyle !== 'none' && parseFloat(style.borderTopWidth) >= 1 &&
                style.borderTopColor !== style.backgroundColor && !/^rgba.* 0\)$/.test(style.borderTopColor)
            const moves = (style) => parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none' || style.scrollBehavior === 'smooth'
            return {
                borderless: controls.filter((each) => each.type !== 'checkbox' && !has_border(getComputedStyle(each))).map((each) => each.outerHTML),
                moving: all.filter((each) => moves(getComputedStyle(each))).map((each) => each.outerHTML.slice(0, 120)),
            }
        })
        for (const each of borderless) this.add_finding(`${name}: no border in forced colors: ${each}`)
        for (const each of moving) this.add_finding(`${name}: moves: ${each}`)
        await this.page.emulateMedia({ forcedColors: 'none', reducedMotion: 'no-preference' })
    }
}
