// A look at every page in one language: its longest words at every size, and that no link or form leads out of it.

import { check } from './talk.mjs'

export class Tour {
    constructor({ page, eyes, told }) {
        Object.assign(this, { page, eyes, told })
    }

    async go(path, name) {
        await this.page.goto(new URL(path, this.told.auth).href)
        await this.look(name)
    }

    async look(name) {
        const { language, targets } = await this.page.evaluate(() => ({
            language: document.documentElement.lang,
            targets: [...document.querySelectorAll('a[href]:not([hreflang]):not([rel~=external]), form')]
                .map((each) => new URL(each.getAttribute('href') ?? each.getAttribute('action'), location.href))
                .filter((url) => url.origin === location.origin)
                .map((url) => url.pathname),
        }))
        check(language === this.told.language, `in ${this.told.language}, not ${language}`)
        for (const each of targets)
            check(each.startsWith(`/${this.told.language}/`) || each.startsWith('/docs/'), `${each} on ${this.page.url()}`)
        await this.eyes.look(name)
    }

    async submit(name) {
        await Promise.all([this.page.waitForNavigation(), this.page.locator('main form button:not([type=button])').last().click()])
        await this.look(name)
    }

    field(name) {
        return this.page.locator(`[name="${name}"]`)
    }

    async sign_in(name, login, password) {
        await this.go(`/${this.told.language}/user/sign_in/`, `${name}_sign_in`)
        await this.field('login').fill(login)
        await this.field('password').fill(password)
        await this.submit(`${name}_signed_in`)
    }

    async every_page(name) {
        const links = await this.page.locator('body > nav a').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
        check(links.length > 4, 'there is navigation')
        for (const path of links) await this.go(path, name + path.replace(/\W+/g, '_'))
    }

    async whole() {
        const settings = `/${this.told.language}/user/settings/`
        await this.sign_in('wrong', 'nobody', 'x')
        await this.sign_in('empty', this.told.empty.login, this.told.empty.password)
        await this.every_page('empty')
        await this.go(`/${this.told.language}/user/sign_out/`, 'sign_out')
        await this.submit('signed_out')
        await this.sign_in('full', this.told.login, this.told.password)
        await this.every_page('full')
        await this.go(settings + 'tokens/', 'tokens')
        await this.page.locator('.items [popovertarget]').first().click()
        await this.look('token_confirmation')
        await this.page.keyboard.press('Escape')
        await this.field('description').fill('x')
        await this.submit('token_fault')
        await this.page.locator('[value="user:balance"]').check()
        await this.submit('token_made')
        await this.go(settings + 'applications/', 'applications')
        await this.page.locator('.items a.button').last().click()
        await this.look('application_edit')
        const { id, redirect } = this.told.long
        const asked = new URLSearchParams({ client_id: id, response_type: 'code', scope: 'user:balance,sitesmaker:read,itemplatform', redirect_uri: redirect })
        await this.go(`/${this.told.language}/user/oauth/?${asked}`, 'consent')
        await this.go(`/${this.told.language}/user/oauth/?client_id=nobody`, 'consent_unknown')
        await this.go(`/${this.told.language}/user/device/`, 'device')
        await this.field('user_code').fill('AAAA')
        await this.submit('device_fault')
        await this.go(`/${this.told.language}/nothing`, 'not_found')
    }
}
