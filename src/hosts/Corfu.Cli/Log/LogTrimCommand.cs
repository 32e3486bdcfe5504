using System.Text.Json;
using Tango;

namespace Corfu.Cli;

/// <summary><c>corfu log trim</c>.</summary>
internal static class LogTrimCommand
{
    private const string Description =
        """
        Release one position, or with --below everything before one. What is trimmed cannot be read again. Its stream
        headers survive a trim of single positions, so that streams can still be walked. --below refuses what Tango
        objects, readers or declared streams still need, and says which. --force trims it all the same.
        """;

    public static Command Create()
    {
        var position = CommonOptions.PositionArgument("The position to release.");
        position.Arity = ArgumentArity.ZeroOrOne;
        var below = CommonOptions.PositionOption("--below",
            "Release everything below this position, which is at most the tail.");
        var force = new Option<bool>("--force") { Description = "With --below: also what is still needed." };
        var unneeded = new Option<bool>("--unneeded")
        {
            Description = "Release what nothing needs and no wish keeps, and print the new trim point.",
        };
        var json = CommonOptions.JsonOption();
        var command = Commands.WithClient("trim", Description, [position, below, unneeded, force, json],
            async (client, result, cancellationToken) =>
            {
                var (output, error) = (result.InvocationConfiguration.Output, result.InvocationConfiguration.Error);
                TrimResultJson done;
                if (result.GetValue(unneeded)) done = await TrimUnneededAsync(client, cancellationToken);
                else if (result.GetValue(below) is not { } end)
                {
                    var single = result.GetValue(position);
                    await client.TrimAsync(single, cancellationToken);
                    done = new TrimResultJson(true, single.Offset, null, []);
                }
                else if (result.GetValue(force)) done = await ForceAsync(client, end, error, cancellationToken);
                else done = await TrimBelowAsync(client, end, error, cancellationToken);
                if (result.GetValue(json))
                    await output.WriteLineAsync(JsonSerializer.Serialize(done, CliJson.Lines.TrimResultJson));
                else if (result.GetValue(unneeded)) await output.WriteLineAsync($"{done.Below}");
                return done.Trimmed ? ExitCode.Ok : ExitCode.Failed;
            });
        command.Validators.Add(result =>
        {
            bool[] given =
            [
                result.GetResult(position) is { Tokens.Count: > 0 }, result.GetResult(below) is not null,
                result.GetValue(unneeded),
            ];
            if (given.Count(static isGiven => isGiven) != 1)
                result.AddError("Give either a position, --below P or --unneeded.");
            if (result.GetValue(force) && result.GetResult(below) is null)
                result.AddError("--force goes with --below P.");
        });
        return command;
    }

    private static async Task<TrimResultJson> TrimUnneededAsync(
        CorfuClient client, CancellationToken cancellationToken)
    {
        await using var runtime = new TangoRuntime(client);
        return new TrimResultJson(true, null, (await runtime.Log.TrimAsync(cancellationToken)).Offset, []);
    }

    private static async Task<TrimResultJson> TrimBelowAsync(
        CorfuClient client, LogPosition below, TextWriter error, CancellationToken cancellationToken)
    {
        await RequireGrantedAsync(client, below, cancellationToken);
        await using var runtime = new TangoRuntime(client);
        ImmutableArray<TangoClaim> claims = [];
        try
        {
            await runtime.Log.TrimBelowAsync(below, cancellationToken);
            return new TrimResultJson(true, null, below.Offset, []);
        }
        catch (TangoClaimedException e)
        {
            claims = e.Claims;
            await error.WriteLineAsync($"Nothing was trimmed: history below {below.Offset} is still needed.");
            foreach (var claim in e.Claims) await error.WriteLineAsync($"  {Line(claim)}");
            await error.WriteLineAsync(
                $"Everything below {e.Claims[0].Position.Offset} can be trimmed; --force trims the rest and loses it.");
        }
        catch (TangoTrimmedException)
        {
            await error.WriteLineAsync(
                "The directory of Tango objects has lost history and cannot say what is needed. --force trims without "
                + "asking.");
        }
        catch (CorfuException e)
        {
            await error.WriteLineAsync(
                $"What is needed cannot be read: {e.Message} --force trims without asking.");
        }
        catch (TangoInDoubtException e)
        {
            await error.WriteLineAsync($"The trim needs a record in the log, which was not written: {e.Message}");
            await error.WriteLineAsync(
                "On full disks --force trims without the record. It says first what is needed below the position.");
        }

        return new TrimResultJson(false, null, below.Offset, [.. claims.Select(ClaimJson.Of)]);
    }

    /// <summary>The runtime of before the trim is asked, so that what is lost has a name.</summary>
    private static async Task<TrimResultJson> ForceAsync(
        CorfuClient client, LogPosition below, TextWriter error, CancellationToken cancellationToken)
    {
        await RequireGrantedAsync(client, below, cancellationToken);
        await using var runtime = new TangoRuntime(client);
        ImmutableArray<TangoClaim> lost = [];
        try
        {
            var point = await runtime.Log.ReadTrimPointAsync(cancellationToken);
            lost = [.. point.Claims.Where(claim => claim.Position < below)];
            if (lost.IsEmpty) await error.WriteLineAsync("Nothing that is needed lies below.");
            else await error.WriteLineAsync($"Lost with the history below {below.Offset}:");
            foreach (var claim in lost) await error.WriteLineAsync($"  {Loss(claim, below)}");
        }
        catch (Exception e) when (e is TangoException or CorfuException)
        {
            await error.WriteLineAsync($"What is lost cannot be said: {e.Message}");
        }

        await client.TrimPrefixAsync(below, cancellationToken);
        return new TrimResultJson(true, null, below.Offset, [.. lost.Select(ClaimJson.Of)]);
    }

    // Before anything is recorded; the trim itself would refuse it only after that.
    private static async Task RequireGrantedAsync(
        CorfuClient client, LogPosition below, CancellationToken cancellationToken)
    {
        var tail = (await client.CheckAsync([], ReadConsistency.Linearizable, cancellationToken)).Tail;
        if (below > tail)
            throw new PositionNotGrantedException(
                $"The log ends at {tail.Offset}: nothing above that can be trimmed.");
    }

    private static string Line(TangoClaim claim) => claim.Kind switch
    {
        TangoClaimKind.Object when claim.IsHeldByValues =>
            $"object {claim.Name} holds values from {claim.Position.Offset} on: rises when its program writes them "
            + "again (CompactAsync) and has made two checkpoints",
        TangoClaimKind.Object when claim.Checkpoint is { } end =>
            $"object {claim.Name} from {claim.Position.Offset} on (checkpoint of all below {end.Offset}): rises with "
            + $"its next checkpoint, by a client that knows {TypesOf(claim)}",
        TangoClaimKind.Object =>
            $"object {claim.Name} from {claim.Position.Offset} on (no checkpoint): a client that knows "
            + $"{TypesOf(claim)} makes checkpoints",
        TangoClaimKind.Directory => $"the directory of objects from {claim.Position.Offset} on: rises with its "
            + "checkpoints, by any client",
        TangoClaimKind.DeletedObject =>
            $"deleted object {claim.Name} from {claim.Position.Offset} on: until the others have newer checkpoints",
        TangoClaimKind.Reader =>
            $"reader {claim.Name} from {claim.Position.Offset} on: until it moves on, or its lease ends",
        _ => $"stream {claim.Name} from {claim.Position.Offset} on: corfu stream release --stream {claim.Name}",
    };

    private static string TypesOf(TangoClaim claim) => claim.Group is null
        ? "its type"
        : $"all types of group {claim.Group} (else: corfu object delete MEMBER)";

    private static string Loss(TangoClaim claim, LogPosition below) => claim.Kind switch
    {
        TangoClaimKind.Object when claim.OldestValue < below =>
            $"object {claim.Name}: its values from {claim.OldestValue!.Value.Offset} on, and older checkpoints",
        TangoClaimKind.Object when claim.Checkpoint is { } end && end >= below =>
            $"object {claim.Name}: opens from its checkpoint of all below {end.Offset} alone, if that is sound",
        TangoClaimKind.Object => $"object {claim.Name}: cannot be opened any more",
        TangoClaimKind.Directory when claim.Checkpoint is { } end && end >= below =>
            "the directory: opens from its newest checkpoint alone",
        TangoClaimKind.Directory => "the directory: no object of the log can be opened any more",
        TangoClaimKind.DeletedObject => $"deleted object {claim.Name}: transactions that read it may stay undecided",
        TangoClaimKind.Reader => $"reader {claim.Name}: the entries from {claim.Position.Offset} on",
        _ => $"stream {claim.Name}: its entries from {claim.Position.Offset} on",
    };
}

/// <summary>The result of a trim, as JSON.</summary>
/// <param name="Position">The position that was released, where no prefix was.</param>
/// <param name="Below">Everything below it was released, or was to be.</param>
/// <param name="Claims">Claims on history below: the reason why nothing was trimmed, or the claims that --force has
/// broken.</param>
internal sealed record TrimResultJson(bool Trimmed, long? Position, long? Below, IReadOnlyList<ClaimJson> Claims);

/// <param name="Kind">object, directory, deletedobject, reader or stream.</param>
/// <param name="NeedsFrom">Nothing of the log below is needed.</param>
internal sealed record ClaimJson(string Kind, string Name, long NeedsFrom, long? Checkpoint)
{
    public static ClaimJson Of(TangoClaim claim) => new(
        claim.Kind.ToString().ToLowerInvariant(), claim.Name, claim.Position.Offset, claim.Checkpoint?.Offset);
}
