using System.Globalization;

namespace Corfu.Cli;

/// <summary><c>corfu volume recover</c>.</summary>
internal static class VolumeRecoverCommand
{
    private const string Description =
        """
        Give up writes that were acknowledged, where a volume waits for stores that will never come back ('corfu volume
        status' says which). The volume goes on from the last batch that all regions can show. The loss is on record for
        ever. While a store may come back, start its node instead: nothing is lost then.
        """;

    public static Command Create()
    {
        var name = VolumeCommand.NameArgument();
        var accept = new Option<bool>("--accept-loss")
        { Description = "Say that the writes behind the last whole batch are lost." };
        var by = new Option<string>("--by")
        {
            Description = "Who decides that, for the record (default: this user).",
            HelpName = "NAME",
            DefaultValueFactory = _ => Environment.UserName,
        };
        return SalusConnections.WithLog("recover", Description, [name, accept, by],
            async (salus, result, cancellationToken) =>
            {
                var volume = result.GetRequiredValue(name);
                var loss = await salus.Admin.AcceptLossAsync(
                    volume, result.GetRequiredValue(by), cancellationToken);
                await result.InvocationConfiguration.Output.WriteLineAsync(string.Create(CultureInfo.InvariantCulture,
                    $"batches {loss.Kept.Number + 1} to {loss.Proven.Number} of {volume} are given up"));
                return ExitCode.Ok;
            }, result =>
            {
                if (!result.GetValue(accept))
                    throw new UsageException("'volume recover' gives up acknowledged writes for ever. Look at 'corfu "
                        + $"volume status {result.GetValue(name)}' first; to give them up, add --accept-loss.");
            });
    }
}
