// Two people who do the same: one points and clicks, one has nothing but a keyboard.

import { check } from './talk.mjs'

export class Mouse {
    constructor(page) {
        this.page = page
    }

    async fill(where, text) {
        await where.fill(text)
    }

    async press(what) {
        await what.click()
    }

    async choose(select, text) {
        await select.selectOption({ label: text })
    }

    async submit(field) {
        await field.press('Enter')
    }

    /// All of a field's text, as people do who want to copy it.
    async select(field) {
        await field.click({ clickCount: 3 })
    }
}

const stops_max = 120 // more than any page has

export class Keyboard {
    constructor(page) {
        this.page = page
    }

    /// On by Tab, as far as it takes. Wherever the focus stops on the way, it is seen.
    async reach(what) {
        const wanted = await what.elementHandle()
        for (let stops = 0; stops <= stops_max; stops++) {
            if (await wanted.evaluate((element) => element === document.activeElement)) return this.check_focus()
            await this.page.keyboard.press('Tab')
            await this.check_focus()
        }
        throw new Error(`${what} is not reached by Tab`)
    }

    async check_focus() {
        const seen = await this.page.evaluate(() => {
            const element = document.activeElement
            if (element === document.body || element === document.documentElement) return null // around, past the last one
            const style = getComputedStyle(element)
            const box = element.getBoundingClientRect()
            return {
                tag: element.outerHTML.slice(0, 120),
                ringed: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
                inside: box.bottom > 0 && box.top < innerHeight && box.right > 0 && box.left < innerWidth && box.width > 0,
            }
        })
        if (seen) check(seen.ringed && seen.inside, `the focus is seen: ${JSON.stringify(seen)}`)
    }

    async fill(where, text) {
        await this.reach(where)
        await this.page.keyboard.press('Control+A')
        await this.page.keyboard.type(text)
        check((await where.inputValue()) === text, `${text} was typed`)
    }

    async press(what) {
        await this.reach(what)
        const links = await what.evaluate((element) => element.tagName === 'A')
        await this.page.keyboard.press(links ? 'Enter' : 'Space')
    }

    async choose(select, text) {
        await this.reach(select)
        await this.page.keyboard.type(text)
        const chosen = await select.evaluate((element) => element.selectedOptions[0].textContent)
        check(chosen === text, `${text} is chosen, not ${chosen}`)
    }

    async submit(field) {
        await this.reach(field)
        await this.page.keyboard.press('Enter')
    }

    async select(field) {
        await this.reach(field)
    }
}
