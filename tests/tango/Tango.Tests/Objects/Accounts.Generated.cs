using System.Buffers;
using System.Collections.Immutable;

namespace Tango.Tests;

/// <summary>Written by hand the way generated code looks; only <see cref="Wire"/> stands for the MessagePack writer and
/// formatters.</summary>
public sealed partial class Accounts : ITangoObject<Accounts>
{
    private static readonly MutatorInfo s_set = new(1, "Set", Reads: false);
    private static readonly MutatorInfo s_add = new(2, "Add", Reads: true);
    private static readonly MutatorInfo s_withdraw = new(3, "Withdraw", Reads: true);
    private static readonly MutatorInfo s_clear = new(4, "Clear", Reads: false);

    private static readonly TangoObjectType s_type = new(
        "test-accounts", static () => new Accounts(), static _ => { }, s_set, s_add, s_withdraw, s_clear);

    static TangoObjectType ITangoObject<Accounts>.ObjectType => s_type;

    public partial ValueTask SetAsync(string account, long amount, CancellationToken ct)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, amount);
        return UpdateHelperAsync(s_set, KeyOf(account), arguments, ct);
    }

    public partial ValueTask<long> AddAsync(string account, long amount, CancellationToken ct)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, amount);
        return UpdateHelperAsync<long>(s_add, KeyOf(account), arguments, ct);
    }

    public partial ValueTask WithdrawAsync(string account, long amount, CancellationToken ct)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, amount);
        return UpdateHelperAsync(s_withdraw, KeyOf(account), arguments, ct);
    }

    public partial ValueTask ClearAsync(CancellationToken ct) =>
        UpdateHelperAsync(s_clear, ObjectKey.None, new ArgumentBuffer(), ct);

    public partial ValueTask<long> BalanceAsync(string account, CancellationToken ct) =>
        QueryHelperAsync<Accounts, string, long>(KeyOf(account), account, static (view, a) => view.ReadBalance(a), ct);

    public partial ValueTask<ImmutableDictionary<string, long>> SnapshotAsync(CancellationToken ct) =>
        QueryHelperAsync<Accounts, ValueTuple, ImmutableDictionary<string, long>>(
            ObjectKey.None, default, static (view, _) => view.ReadSnapshot(), ct);

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        switch (mutator)
        {
            case 1:
                ApplySet(Wire.ReadString(ref key), Wire.ReadInt64(ref arguments));
                break;
            case 2:
                context.Return(ApplyAdd(Wire.ReadString(ref key), Wire.ReadInt64(ref arguments)));
                break;
            case 3:
                ApplyWithdraw(Wire.ReadString(ref key), Wire.ReadInt64(ref arguments));
                break;
            case 4:
                ApplyClear();
                break;
            default:
                throw new TangoUnknownRecordException(s_type.Name, mutator);
        }
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer)
    {
        Wire.WriteInt64(writer, _updates);
        Wire.WriteInt64(writer, _balances.Count);
        foreach (var (account, balance) in _balances.OrderBy(pair => pair.Key, StringComparer.Ordinal))
        {
            Wire.WriteString(writer, account);
            Wire.WriteInt64(writer, balance);
        }
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
        _updates = Wire.ReadInt64(ref state);
        var balances = ImmutableDictionary.CreateBuilder<string, long>();
        for (var left = Wire.ReadInt64(ref state); left > 0; left--)
            balances.Add(Wire.ReadString(ref state), Wire.ReadInt64(ref state));
        _balances = balances.ToImmutable();
    }

    private static ObjectKey KeyOf(string account)
    {
        var buffer = new ArgumentBuffer();
        Wire.WriteString(buffer, account);
        return ObjectKey.From(buffer);
    }
}
