using System.Collections.Immutable;
using Corfu;

namespace Tango.Tests.Feeds;

/// <summary>Steps of tests about feeds.</summary>
internal static class FeedReader
{
    public static readonly FeedOptions Quick = new() { PollInterval = TimeSpan.FromMilliseconds(1) };

    public static IAsyncEnumerable<TangoChange<Accounts>> ChangesAsync(
        this TangoRuntime runtime, ChangePlace after, FeedOptions? options = null) =>
        runtime.History.ChangesAsync<Accounts>(
            "accounts", after, options ?? Quick, TestContext.Current.CancellationToken);

    public static async Task<List<TangoChange<Accounts>>> TakeAsync(
        this IAsyncEnumerable<TangoChange<Accounts>> changes, int count)
    {
        var taken = new List<TangoChange<Accounts>>();
        await foreach (var change in changes)
        {
            taken.Add(change);
            if (taken.Count == count) break;
        }

        return taken;
    }

    /// <summary>All changes up to the first that is not below a position.</summary>
    public static async Task<List<TangoChange<Accounts>>> TakeToAsync(
        this IAsyncEnumerable<TangoChange<Accounts>> changes, LogPosition last)
    {
        var taken = new List<TangoChange<Accounts>>();
        await foreach (var change in changes)
        {
            taken.Add(change);
            if (change.Place.Position >= last) break;
        }

        return taken;
    }

    public static string Describe(TangoChange<Accounts> change)
    {
        if (change.Kind != TangoChangeKind.Update) return $"{change.Place.Position.Offset} {change.Kind}";
        var (key, arguments) = (change.Key, change.Arguments);
        var call = change.Mutator!.Name == "Clear"
            ? "Clear"
            : $"{change.Mutator.Name} {Wire.ReadString(ref key)} {Wire.ReadInt64(ref arguments)}";
        return change.Transaction is null ? call : call + " in a transaction";
    }

    /// <summary>Applies the change to a state.</summary>
    public static ImmutableDictionary<string, long> ApplyTo(
        this TangoChange<Accounts> change, ImmutableDictionary<string, long> balances)
    {
        if (change.Kind == TangoChangeKind.Progress) return balances;
        var (key, arguments) = (change.Key, change.Arguments);
        if (change.Mutator!.Name == "Clear") return balances.Clear();
        var account = Wire.ReadString(ref key);
        var amount = Wire.ReadInt64(ref arguments);
        var balance = balances.GetValueOrDefault(account);
        return balances.SetItem(account, change.Mutator.Name switch
        {
            "Add" => balance + amount,
            "Withdraw" => balance - amount,
            _ => amount,
        });
    }
}
