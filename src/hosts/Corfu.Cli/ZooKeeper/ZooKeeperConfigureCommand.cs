using System.Text.Json;
using Tango;
using Tango.ZooKeeper;

namespace Corfu.Cli;

/// <summary><c>corfu zookeeper configure</c>.</summary>
internal static class ZooKeeperConfigureCommand
{
    private const string Description =
        """
        Change settings of a tree, at all its front ends at once, and print them. Without a setting it prints them
        only. They stand in the log, so that every front end decides requests alike.
        """;

    public static Command Create()
    {
        var ttl = SwitchOption("--ttl-nodes", "Whether clients may create nodes with a time to live.");
        var quota = SwitchOption(
            "--enforce-quota", "Whether writes beyond the hard limits of a quota are refused (error -125).");
        var (service, json) = (ZooKeeperCommand.ServiceOption(), CommonOptions.JsonOption());
        return TangoCommand.WithRuntime("configure", Description, [ttl, quota, service, json],
            async (_, runtime, result, cancellationToken) =>
            {
                var tree = await runtime.OpenAsync<ZooKeeperTree>(
                    $"zookeeper/{result.GetRequiredValue(service)}", OpenMode.Existing, cancellationToken);
                var record = new ConfigureRecord(null, IsOn(result.GetValue(ttl)), IsOn(result.GetValue(quota)));
                if (record is not { TtlNodes: null, EnforceQuota: null })
                    await TreePartitions.Of(runtime, result.GetRequiredValue(service), tree)
                        .ConfigureAsync(record, cancellationToken);
                var root = await tree.ReadAsync(cancellationToken);
                var shown = new TreeSettingsJson(
                    result.GetRequiredValue(service), root.Level, root.Settings.TtlNodes, root.Settings.EnforceQuota);
                await result.InvocationConfiguration.Output.WriteLineAsync(result.GetValue(json)
                    ? JsonSerializer.Serialize(shown, ZooKeeperCliJson.Lines.TreeSettingsJson)
                    : $"ttl-nodes {Text(shown.TtlNodes)}, enforce-quota {Text(shown.EnforceQuota)}, level "
                        + $"{shown.Level}");
                return ExitCode.Ok;
            });
    }

    private static bool? IsOn(string? text) => text is null ? null : text == "on";

    private static string Text(bool isOn) => isOn ? "on" : "off";

    private static Option<string?> SwitchOption(string name, string description)
    {
        var option = new Option<string?>(name) { Description = description, HelpName = "on|off" };
        option.AcceptOnlyFromAmong("on", "off");
        return option;
    }
}

/// <summary>Settings of a tree, as JSON.</summary>
/// <param name="Level">Meaning of the tree's records.</param>
internal sealed record TreeSettingsJson(string Service, int Level, bool TtlNodes, bool EnforceQuota);
