using System.Collections.Immutable;

namespace Tango.Tests;

/// <summary>The part of the sample object that a user writes; <c>Accounts.Generated.cs</c> is what the generator would
/// add.</summary>
[TangoObject("test-accounts")]
public sealed partial class Accounts : TangoObject
{
    private ImmutableDictionary<string, long> _balances = ImmutableDictionary<string, long>.Empty;
    private long _updates;

    [Mutator(1)]
    public partial ValueTask SetAsync([VersionKey] string account, long amount, CancellationToken ct = default);

    [Mutator(2)]
    public partial ValueTask<long> AddAsync([VersionKey] string account, long amount, CancellationToken ct = default);

    [Mutator(3, MayReject = true)]
    public partial ValueTask WithdrawAsync([VersionKey] string account, long amount, CancellationToken ct = default);

    [Mutator(4)]
    public partial ValueTask ClearAsync(CancellationToken ct = default);

    [Accessor]
    public partial ValueTask<long> BalanceAsync([VersionKey] string account, CancellationToken ct = default);

    [Accessor]
    public partial ValueTask<ImmutableDictionary<string, long>> SnapshotAsync(CancellationToken ct = default);

    /// <summary>Waits for a balance that this runtime has played.</summary>
    public ValueTask<long> SeeBalanceAsync(string account, Func<long, bool> until) =>
        WaitForViewAsync<Accounts, long>(view => view.ReadBalance(account), until, default);

    private void ApplySet(string account, long amount)
    {
        _balances = _balances.SetItem(account, amount);
        _updates++;
    }

    private long ApplyAdd(string account, long amount)
    {
        var balance = ReadBalance(account) + amount;
        ApplySet(account, balance);
        return balance;
    }

    private void ApplyWithdraw(string account, long amount)
    {
        var balance = ReadBalance(account);
        if (balance < amount) throw Reject("insufficient funds");
        ApplySet(account, balance - amount);
    }

    private void ApplyClear()
    {
        _balances = ImmutableDictionary<string, long>.Empty;
        _updates++;
    }

    private long ReadBalance(string account) => _balances.GetValueOrDefault(account);

    private ImmutableDictionary<string, long> ReadSnapshot() => _balances;

    /// <summary>State of a view that no runtime hosts.</summary>
    internal ImmutableDictionary<string, long> Balances => _balances;
}
