using System.Buffers;
using System.Collections.Immutable;

namespace Tango.Tests.SecondViews;

/// <summary>A second view of <see cref="Accounts"/>: balances by account, the highest first.</summary>
internal sealed class Wealth : TangoObject, ITangoObject<Wealth>, ITangoViewOf<Accounts>
{
    private static readonly TangoObjectType s_type = new(
        "test-wealth", static () => new Wealth(), static _ => { },
        [.. Enumerable.Range(1, 4).Select(static number => new MutatorInfo(number, $"{number}", number is 2 or 3))]);

    private ImmutableDictionary<string, long> _balances = ImmutableDictionary<string, long>.Empty;
    private ImmutableSortedSet<(long Amount, string Account)> _order = [];

    static TangoObjectType ITangoObject<Wealth>.ObjectType => s_type;

    public ValueTask<ImmutableArray<string>> RichestAsync() =>
        QueryHelperAsync<Wealth, ValueTuple, ImmutableArray<string>>(
            ObjectKey.None, default, static (view, _) => [.. view._order.Reverse().Select(static one => one.Account)],
            default);

    public ValueTask SetAsync() => UpdateHelperAsync(s_type.Mutators[0], ObjectKey.None, new ArgumentBuffer(), default);

    async ValueTask ITangoViewOf<Accounts>.StartFromAsync(Accounts state)
    {
        foreach (var (account, balance) in await state.SnapshotAsync()) Set(account, balance);
    }

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        if (mutator == 4)
        {
            (_balances, _order) = (_balances.Clear(), []);
            return;
        }

        var account = Wire.ReadString(ref key);
        var amount = Wire.ReadInt64(ref arguments);
        var balance = _balances.GetValueOrDefault(account);
        if (mutator == 3 && balance < amount) throw Reject("insufficient funds");
        Set(account, mutator switch
        {
            1 => amount,
            2 => balance + amount,
            _ => balance - amount,
        });
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer) => Wire.WriteInt64(writer, _order.Count);

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
        // A view is never in a checkpoint; this is asked of its initial state when it is opened.
        if (Wire.ReadInt64(ref state) != 0) throw new NotSupportedException();
    }

    private void Set(string account, long balance)
    {
        if (_balances.TryGetValue(account, out var old)) _order = _order.Remove((old, account));
        _balances = _balances.SetItem(account, balance);
        _order = _order.Add((balance, account));
    }
}
