namespace Corfu.Cli;

/// <summary>Makes commands from their parts.</summary>
internal static class Commands
{
    /// <summary>A command of a connected client.</summary>
    public static Command WithClient(string name, string description, Symbol[] parts,
        Func<CorfuClient, ParseResult, CancellationToken, Task<int>> run)
    {
        var connect = CommonOptions.ConnectOption();
        var command = New(name, description, [connect, .. parts]);
        command.SetAction(async (result, cancellationToken) =>
        {
            await using var client = await Connections.ConnectAsync(result.GetRequiredValue(connect),
                cancellationToken);
            return await run(client, result, cancellationToken);
        });
        return command;
    }

    public static Command New(string name, string description, Symbol[] parts)
    {
        var command = new Command(name, description);
        foreach (var argument in parts.OfType<Argument>()) command.Add(argument);
        foreach (var option in parts.OfType<Option>()) command.Add(option);
        return command;
    }
}
