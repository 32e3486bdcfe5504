using System.Text.Json;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu object</c>: the objects that the directory knows. The tool does not know their types, so that it
/// shows no states and makes no checkpoints.</summary>
internal static class ObjectCommand
{
    private const string ListDescription =
        """
        List the log's Tango objects: id, type, group, the position from which on the object still needs the log, and
        where its newest checkpoint ends.
        """;

    private const string DeleteDescription =
        """
        Delete an object for good. Its name can be used again; programs that have it open are told. A member of a group
        leaves it, and the group goes on: do so where no program knows the member's type any more, and the group has no
        checkpoints for that. The first member goes with the group only.
        """;

    private const string RenameDescription =
        """
        Give an object another name; its state, group and history stay. Programs that have it open go on. Those that
        open it need the new name.
        """;

    private const string CheckpointDescription =
        """
        Say how the object gets its next checkpoint. The tool does not know the types of objects, so that it cannot
        make one: programs that have the object open do it by themselves, or when they call
        RuntimeCheckpoints.WriteAsync. Ends with exit code 1.
        """;

    public static Command Create() => new("object", "The Tango objects of a log.")
    {
        List(),
        Show(),
        ObjectHistoryCommand.Create(),
        Checkpoint(),
        Rename(),
        Delete(),
    };

    private static Command List()
    {
        var json = CommonOptions.JsonOption();
        return TangoCommand.WithRuntime("list", ListDescription, [json],
            async (_, runtime, result, cancellationToken) =>
            {
                var objects = await ReadAsync(runtime, cancellationToken);
                var output = result.InvocationConfiguration.Output;
                if (result.GetValue(json))
                {
                    foreach (var found in objects)
                        await output.WriteLineAsync(JsonSerializer.Serialize(found, CliJson.Lines.ObjectJson));
                    return ExitCode.Ok;
                }

                string[] header = ["NAME", "ID", "TYPE", "GROUP", "NEEDS FROM", "CHECKPOINT"];
                await TextTable.WriteAsync(output, header, objects.Select(found => new[]
            {
                    found.Name, $"{found.Id}", found.Type, found.Group ?? "-", $"{found.NeedsFrom}",
                    found.Checkpoint is { } end ? $"{end}" : "none",
                }));
                return ExitCode.Ok;
            });
    }

    private static Command Show()
    {
        var name = NameArgument();
        var json = CommonOptions.JsonOption();
        return TangoCommand.WithRuntime("show", "Show one object, or one group's member.", [name, json],
            async (_, runtime, result, cancellationToken) =>
            {
                var wanted = result.GetRequiredValue(name);
                var found = Require(await ReadAsync(runtime, cancellationToken), wanted);
                var output = result.InvocationConfiguration.Output;
                if (result.GetValue(json))
                {
                    await output.WriteLineAsync(JsonSerializer.Serialize(found, CliJson.Lines.ObjectJson));
                    return ExitCode.Ok;
                }

                await output.WriteLineAsync($"{found.Name}: object {found.Id}, type {found.Type}");
                if (found.Group is not null) await output.WriteLineAsync($"a member of the group {found.Group}");
                if (found.ForkedFrom is not null)
                    await output.WriteLineAsync($"forked from {found.ForkedFrom} at {found.ForkedAt}");
                await output.WriteLineAsync($"needs the log from {found.NeedsFrom} on");
                await output.WriteLineAsync(found.Checkpoint is { } end
                    ? $"newest checkpoint: of everything below {end}"
                    : "no checkpoint");
                await output.WriteLineAsync($"keeps the versions of {found.VersionCapacity} keys");
                return ExitCode.Ok;
            });
    }

    private static Command Checkpoint()
    {
        var name = NameArgument();
        return TangoCommand.WithRuntime("checkpoint", CheckpointDescription, [name],
            async (_, runtime, result, cancellationToken) =>
            {
                var wanted = result.GetRequiredValue(name);
                var found = Require(await ReadAsync(runtime, cancellationToken), wanted);
                var newest = found.Checkpoint is { } end ? $"holds everything below {end}" : "is still to come";
                await result.InvocationConfiguration.Error.WriteLineAsync(
                    $"""
                    No checkpoint was made: this tool does not know the type {found.Type}.
                    Open '{wanted}' in a program that does. It makes checkpoints by itself, or at once with
                    RuntimeCheckpoints.WriteAsync. The newest checkpoint {newest}.
                    """);
                return ExitCode.Failed;
            });
    }

    private static Command Rename()
    {
        var name = NameArgument();
        var newName = new Argument<string>("new-name") { Description = "The name that it gets." };
        return TangoCommand.WithRuntime("rename", RenameDescription, [name, newName],
            async (_, runtime, result, cancellationToken) =>
            {
                await runtime.Directory.RenameAsync(
                    result.GetRequiredValue(name), result.GetRequiredValue(newName), cancellationToken);
                return ExitCode.Ok;
            });
    }

    private static Command Delete()
    {
        var name = NameArgument();
        name.Arity = ArgumentArity.ZeroOrOne;
        var group = new Option<string?>("--group")
        {
            Description = "Delete this group with all its members instead.",
            HelpName = "GROUP",
        };
        var yes = new Option<bool>("--yes") { Description = "Do it; else the command only says what would go." };
        var json = CommonOptions.JsonOption();
        var command = TangoCommand.WithRuntime("delete", DeleteDescription, [name, group, yes, json],
            async (_, runtime, result, cancellationToken) =>
            {
                var (wanted, whole) = (result.GetValue(name), result.GetValue(group));
                var all = await ReadAsync(runtime, cancellationToken);
                var going = all.Where(found => whole is null ? found.Name == wanted : found.Group == whole).ToList();
                Task TellAsync(bool isDone) => !result.GetValue(json)
                    ? Task.CompletedTask
                    : result.InvocationConfiguration.Output.WriteLineAsync(
                        JsonSerializer.Serialize(new DeletionJson(isDone, going), CliJson.Lines.DeletionJson));
                if (!result.GetValue(yes))
                {
                    if (going.Count == 0)
                    {
                        throw new TangoObjectNotFoundException((wanted ?? whole)!,
                            $"There is no {(whole is null ? "object" : "group")} '{wanted ?? whole}'");
                    }

                    await result.InvocationConfiguration.Error.WriteLineAsync(
                        $"Nothing was deleted. {Announce(all, going, whole)}");
                    await TellAsync(isDone: false);
                    return ExitCode.Failed;
                }

                if (whole is null) await runtime.Directory.DeleteAsync(wanted!, cancellationToken);
                else await runtime.Directory.DeleteGroupAsync(whole, cancellationToken);
                await TellAsync(isDone: true);
                return ExitCode.Ok;
            });
        command.Validators.Add(result =>
        {
            if (result.GetResult(name) is { Tokens.Count: > 0 } == (result.GetResult(group) is not null))
                result.AddError("Give either a name or --group GROUP.");
        });
        return command;
    }

    private static string Announce(ImmutableArray<ObjectJson> all, List<ObjectJson> going, string? whole)
    {
        var names = string.Join(", ", going.Select(found => $"{found.Name} ({found.Type})"));
        if (whole is not null || going[0].Group is not { } group) return $"With --yes these are, for good: {names}";
        return all.Where(found => found.Group == group).MinBy(found => found.Id) == going[0]
            ? $"'{going[0].Name}' is the first member of the group '{group}' and goes with --group {group} only"
            : $"With --yes this member is, for good, and its group '{group}' goes on: {names}";
    }

    public static Argument<string> NameArgument() => new("name") { Description = "The object's name." };

    /// <exception cref="TangoObjectNotFoundException">There is none.</exception>
    public static ObjectJson Require(ImmutableArray<ObjectJson> objects, string name) =>
        objects.FirstOrDefault(found => found.Name == name)
        ?? throw new TangoObjectNotFoundException(
            name, $"There is no object '{name}'. 'corfu object list' names all.");

    public static async Task<ImmutableArray<ObjectJson>> ReadAsync(
        TangoRuntime runtime, CancellationToken cancellationToken)
    {
        var entries = await runtime.Directory.ListAsync(cancellationToken);
        var claims = (await runtime.Log.ReadTrimPointAsync(cancellationToken)).Claims
            .Where(claim => claim.Kind == TangoClaimKind.Object)
            .ToDictionary(claim => claim.Name, StringComparer.Ordinal);
        var firstOf = entries.Where(entry => entry.Group is not null).OrderBy(entry => entry.Id)
            .DistinctBy(entry => entry.Group).ToDictionary(entry => entry.Group!, entry => entry.Name);
        return
        [
            .. from entry in entries
               let claim = claims.GetValueOrDefault(entry.Group is null ? entry.Name : firstOf[entry.Group])
               where claim is not null
               select new ObjectJson(
                   entry.Name, entry.Id.Value, entry.TypeName, entry.Group, entry.VersionCapacity,
                   claim.Position.Offset, claim.Checkpoint?.Offset, entry.Origin?.Source,
                   entry.Origin?.Position.Offset),
        ];
    }
}

/// <summary>The objects that a deletion has removed, or would remove, as JSON.</summary>
internal sealed record DeletionJson(bool Deleted, IReadOnlyList<ObjectJson> Objects);

/// <summary>An object, as JSON.</summary>
/// <param name="NeedsFrom">The object needs no entry below this position.</param>
/// <param name="Checkpoint">End of the newest checkpoint.</param>
/// <param name="ForkedFrom">The source of the fork; null: the object began empty.</param>
/// <param name="ForkedAt">The position of the fork: the first state is the source's with everything below
/// applied.</param>
internal sealed record ObjectJson(
    string Name, ulong Id, string Type, string? Group, int VersionCapacity, long NeedsFrom, long? Checkpoint,
    string? ForkedFrom, long? ForkedAt);
