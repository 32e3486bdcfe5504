namespace Corfu.Cli;

/// <summary><c>corfu cert issue</c>.</summary>
internal static class CertIssueCommand
{
    private const string Description =
        """
        Issue a certificate for a node, an administrator (admin), a program that appends and reads (client), or one
        that calls gRPC front ends with what access.json grants it (caller). Without --request the key is made too: copy
        the folder to its host by a way that others cannot read, and delete it here.
        """;

    public static Command Create()
    {
        var authority = CertCommand.AuthorityOption();
        var role = new Option<string>("--role")
        {
            Description = "What the holder may do.",
            HelpName = "node|admin|client|caller",
            Required = true,
        };
        role.AcceptOnlyFromAmong("node", "admin", "client", "caller");
        var name = new Option<string>("--name")
        {
            Description = "The holder's name, in logs, limits and the audit: 1 to 63 of a-z, 0-9, '.' and '-'.",
            HelpName = "NAME",
            Required = true,
        };
        var to = CommonOptions.FolderOption("--to", "The folder for ca.pem and identity.pem.");
        var hosts = new Option<string[]>("--host")
        {
            Description = "A DNS name or IP address at which the holder serves; a node has one at least.",
            HelpName = "HOST",
            AllowMultipleArgumentsPerToken = true,
        };
        var days = CertCommand.DaysOption("90");
        var request = new Option<FileInfo>("--request")
        {
            Description = "The file of 'corfu cert request', for a key that stays on its host.",
            HelpName = "FILE",
        };
        var command = new Command("issue", Description) { authority, role, name, to, hosts, days, request };
        command.SetAction(async (result, _) =>
        {
            var order = new CertificateOrder(
                CertificateIdentity.RoleOf(result.GetRequiredValue(role))!.Value, result.GetRequiredValue(name))
            {
                Hosts = [.. result.GetValue(hosts) ?? []],
                Lifetime = CertCommand.LifetimeOf(result.GetValue(days)) ?? CertificateOrder.DefaultLifetime,
            };
            var faults = order.Faults().ToList();
            if (order.Role == AccessRole.Node && order.Hosts.IsEmpty)
                faults.Add("A node's certificate names the addresses of its host: give --host.");
            if (faults.Count > 0) throw new UsageException(string.Join(Environment.NewLine, faults));
            using var opened = CertificateAuthority.Open(result.GetRequiredValue(authority).FullName);
            var folder = result.GetRequiredValue(to).FullName;
            var asked = result.GetValue(request);
            using var issued = asked is null
                ? opened.IssueTo(folder, order)
                : opened.Answer(asked.FullName, folder, order);
            var output = result.InvocationConfiguration.Output;
            await output.WriteLineAsync($"{CertificateIdentity.Of(issued, out var _)}");
            await output.WriteLineAsync(
                $"serial {issued.SerialNumber}, valid until {CertCommand.Moment(issued.NotAfter)}");
            await output.WriteLineAsync(asked is null
                ? $"in {folder}"
                : $"in {folder}; on the host of the key: corfu cert request --dir DIR --answer COPY-OF-THIS-FOLDER");
            return ExitCode.Ok;
        });
        return command;
    }
}
