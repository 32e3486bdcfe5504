using System.Globalization;
using System.Text;
using System.Text.Json;
using Craq;
using WriteOutcome = Craq.WriteOutcome;

namespace Corfu.Cli;

/// <summary><c>corfu craq get|put|delete|incr|cas</c>: single objects.</summary>
internal static class CraqObjectCommand
{
    private const string UnknownOutcome =
        "The outcome is unknown: the write was applied, will be, or never is. Read the object before you repeat it.";

    public static Command Get()
    {
        var mode = new Option<string>("--mode")
        {
            Description = "strong: the newest committed version; eventual: the newest at the replica that answers.",
            DefaultValueFactory = _ => "strong",
        };
        mode.AcceptOnlyFromAmong("strong", "eventual");
        var json = CommonOptions.JsonOption();
        return WithStore("get", "Print an object's value. Exit code 3: there is none.", [KeyArgument, mode, json],
            async (store, key, result, cancellationToken) =>
            {
                var terms = result.GetValue(mode) == "eventual" ? ReadTerms.Eventual : ReadTerms.Strong;
                var found = await store.GetAsync(key, terms, cancellationToken);
                if (!found.IsFound)
                {
                    await result.InvocationConfiguration.Error.WriteLineAsync($"There is no object '{key}'.");
                    return ExitCode.NoData;
                }

                await result.InvocationConfiguration.Output.WriteLineAsync(result.GetValue(json)
                    ? JsonSerializer.Serialize(CraqObjectJson.Of(key, found), CraqCliJson.Lines.CraqObjectJson)
                    : Encoding.UTF8.GetString(found.Value.Span));
                return ExitCode.Ok;
            });
    }

    public static Command Put()
    {
        var value = ValueArgument();
        return WithStore("put", "Write an object, and print its version.", [KeyArgument, value],
            async (store, key, result, cancellationToken) => await DoneAsync(result, key,
                await store.PutAsync(key, BytesOf(result, value), cancellationToken: cancellationToken)));
    }

    public static Command Delete() =>
        WithStore("delete", "Delete an object. Exit code 3: there is none.", [KeyArgument],
            async (store, key, result, cancellationToken) =>
                await DoneAsync(result, key, await store.DeleteAsync(key, cancellationToken)));

    public static Command Increment()
    {
        var delta = new Argument<long>("delta")
        { Description = "What is added; below 0: subtracted, down to 0.", DefaultValueFactory = _ => 1 };
        return WithStore("incr", "Add to a number, and print the sum. Exit code 3: there is no such number.",
            [KeyArgument, delta], async (store, key, result, cancellationToken) =>
            {
                var sum = await store.IncrementAsync(key, result.GetValue(delta), cancellationToken);
                if (!sum.IsWritten) return await DoneAsync(result, key, sum);
                await result.InvocationConfiguration.Output.WriteLineAsync(
                    sum.Sum.ToString(CultureInfo.InvariantCulture));
                return ExitCode.Ok;
            });
    }

    public static Command CompareAndSet()
    {
        var expected = new Argument<long>("version")
        { Description = "The version that the object must have; 0: it must be absent." };
        var value = ValueArgument();
        return WithStore("cas", "Write an object if it has a version, and print the new one. Exit code 3: it has "
            + "another one.", [KeyArgument, expected, value], async (store, key, result, cancellationToken) =>
            {
                var version = result.GetValue(expected);
                if (version < 0)
                    throw new UsageException($"The version is {version}, and versions are not negative: give the one "
                        + "that 'corfu craq put' printed, or 0 for an object that must be absent.");
                return await DoneAsync(result, key, await store.CompareAndSetAsync(
                    key, new ObjectVersion(version), BytesOf(result, value), cancellationToken: cancellationToken));
            });
    }

    private static Argument<string> KeyArgument { get; } = new("key") { Description = "The object's key." };

    private static Argument<string> ValueArgument() => new("value") { Description = "The value, as text." };

    private static byte[] BytesOf(ParseResult result, Argument<string> value) =>
        Encoding.UTF8.GetBytes(result.GetRequiredValue(value));

    private static Command WithStore(string name, string description, Symbol[] parts,
        Func<ObjectStore, ObjectKey, ParseResult, CancellationToken, Task<int>> run)
    {
        var connect = CraqConnections.AnyOption();
        var chain = new Option<string?>("--chain") { Description = "A chain's name.", HelpName = "NAME" };
        var keyspace = new Option<string>("--keyspace")
        {
            Description = "A keyspace's name, without --chain.",
            HelpName = "NAME",
            DefaultValueFactory = _ => CraqConnections.MainKeyspace,
        };
        var command = Commands.New(name, description, [connect, chain, keyspace, .. parts]);
        command.SetAction(async (result, cancellationToken) =>
        {
            var text = result.GetRequiredValue(KeyArgument);
            if (Encoding.UTF8.GetByteCount(text) is 0 or > ObjectKey.MaxLength)
                throw new UsageException($"A key has 1 to {ObjectKey.MaxLength} bytes.");
            await using var client = await CraqConnections.ConnectAsync(
                result.GetRequiredValue(connect), cancellationToken);
            ObjectStore store = result.GetValue(chain) is { } named
                ? client.Chain(named)
                : client.Keyspace(result.GetRequiredValue(keyspace));
            return await run(store, text, result, cancellationToken);
        });
        return command;
    }

    private static async Task<int> DoneAsync(ParseResult result, ObjectKey key, WriteResult written)
    {
        var (output, error) = (result.InvocationConfiguration.Output, result.InvocationConfiguration.Error);
        switch (written.Outcome)
        {
            case WriteOutcome.Written:
                await output.WriteLineAsync(written.Version.Value.ToString(CultureInfo.InvariantCulture));
                return ExitCode.Ok;
            case WriteOutcome.Mismatch:
                await error.WriteLineAsync(written.Version.IsNone
                    ? $"Nothing was written: there is no object '{key}' that fits."
                    : $"Nothing was written: '{key}' has the version {written.Version.Value}.");
                return ExitCode.NoData;
            default:
                await error.WriteLineAsync(UnknownOutcome);
                return ExitCode.Failed;
        }
    }
}

/// <param name="Value">As text.</param>
/// <param name="Version">For <c>craq cas</c>.</param>
internal sealed record CraqObjectJson(
    string Key, long Version, string Value, uint Flags, DateTimeOffset? Expires, bool Dirty)
{
    public static CraqObjectJson Of(ObjectKey key, StoredObject found) => new(key.ToString(), found.Version.Value,
        Encoding.UTF8.GetString(found.Value.Span), found.Flags,
        found.Expiry == 0 ? null : DateTimeOffset.FromUnixTimeMilliseconds(found.Expiry), found.IsDirty);
}
