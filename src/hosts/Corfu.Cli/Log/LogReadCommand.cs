namespace Corfu.Cli;

/// <summary><c>corfu log read</c>.</summary>
internal static class LogReadCommand
{
    private const string Description =
        "Write the payload of one entry to standard output, exactly its bytes. Exit code 3 if the position holds no "
        + "data; it is left as it is.";

    public static Command Create()
    {
        var position = CommonOptions.PositionArgument("Where to read: 1042, or e5:1042.");
        return Commands.WithClient("read", Description, [position], async (client, result, cancellationToken) =>
        {
            var pages = await client.ReadManyAsync([result.GetValue(position)], ReadDetail.Full, ReadMode.Observe,
                cancellationToken);
            if (pages[0] is { IsData: true, Entry: { } entry })
            {
                await using var output = Console.OpenStandardOutput();
                await output.WriteAsync(entry.Payload, cancellationToken);
                return ExitCode.Ok;
            }

            await result.InvocationConfiguration.Error.WriteLineAsync(
                $"{pages[0].Position}: {pages[0].State.ToString().ToLowerInvariant()}");
            return ExitCode.NoData;
        });
    }
}
