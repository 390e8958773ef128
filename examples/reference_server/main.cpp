#include "admin_commands.hpp"
#include "command_line.hpp"
#include "output.hpp"
#include "serve.hpp"

#include <nlohmann/json.hpp>

#include <sys/stat.h>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <variant>

int main(int count, char** texts) {
    ::umask(S_IRWXG | S_IRWXO);  // new files are readable by their owner only
    ::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit is an error like a full disk, and does not end the process
    try {
        const auto services = reference::reference_services();
        const auto command = reference::read_command_line(count, texts, services);
        if (!command) return EXIT_SUCCESS;
        if (std::holds_alternative<reference::serve>(command->command)) reference::run_server(command->settings, services);
        else reference::print_line(reference::administer(command->command, command->settings));
        return EXIT_SUCCESS;
    } catch (const reference::failure& failure) {
        reference::complain(failure.what());
        return failure.exit_code();
    } catch (const std::exception& unexpected) {
        reference::complain(unexpected.what());
        return EXIT_FAILURE;
    }
}
