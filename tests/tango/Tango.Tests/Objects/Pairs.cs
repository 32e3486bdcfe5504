using System.Buffers;
using System.Collections.Immutable;

namespace Tango.Tests;

/// <summary>Written by hand: a call that moves an amount concerns two accounts, and no other.</summary>
public sealed class Pairs : TangoObject, ITangoObject<Pairs>
{
    private static readonly MutatorInfo s_move = new(1, "Move", false);
    private static readonly MutatorInfo s_swap = new(2, "Swap", true);
    private static readonly TangoObjectType s_type =
        new("test-pairs", static () => new Pairs(), static _ => { }, s_move, s_swap);

    private ImmutableSortedDictionary<byte, long> _balances = ImmutableSortedDictionary<byte, long>.Empty;

    static TangoObjectType ITangoObject<Pairs>.ObjectType => s_type;

    public static ObjectKey KeyOf(byte account) => new([account]);

    public ValueTask MoveAsync(byte from, byte to) =>
        UpdateHelperAsync(s_move, ObjectKey.List(KeyOf(from), KeyOf(to)), Arguments(from, to), default);

    /// <summary>Moves, and returns the balance of the first.</summary>
    public ValueTask<long> SwapAsync(byte from, byte to) =>
        UpdateHelperAsync<long>(s_swap, ObjectKey.List(KeyOf(from), KeyOf(to)), Arguments(from, to), default);

    public ValueTask<long> BalanceAsync(byte account) => QueryHelperAsync<Pairs, byte, long>(
        KeyOf(account), account, static (view, read) => view._balances.GetValueOrDefault(read), default);

    /// <summary>Reads both accounts as one read.</summary>
    public ValueTask<long> SumAsync(byte first, byte second) => QueryHelperAsync<Pairs, (byte, byte), long>(
        ObjectKey.List(KeyOf(first), KeyOf(second)), (first, second),
        static (view, read) => view._balances.GetValueOrDefault(read.Item1)
            + view._balances.GetValueOrDefault(read.Item2), default);

    void ITangoView.Apply(
        int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments, in ApplyContext context)
    {
        Assert.True(key.IsEmpty);
        var (from, to) = (arguments.Span[0], arguments.Span[1]);
        _balances = _balances.SetItem(from, _balances.GetValueOrDefault(from) - 1);
        _balances = _balances.SetItem(to, _balances.GetValueOrDefault(to) + 1);
        if (mutator == s_swap.Number) context.Return(_balances[from]);
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer)
    {
        foreach (var (account, balance) in _balances) writer.Write([account, (byte)balance]);
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
        for (var i = 0; i < state.Length; i += 2)
            _balances = _balances.SetItem(state.Span[i], (sbyte)state.Span[i + 1]);
    }

    private static ArgumentBuffer Arguments(byte from, byte to)
    {
        var buffer = new ArgumentBuffer();
        buffer.Write([from, to]);
        return buffer;
    }
}
