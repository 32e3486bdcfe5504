using System.Collections.Immutable;
using Corfu;
using Tango.Records;

namespace Tango.Tests.Decisions;

/// <summary>R31: cells are a part of the protocol, and R24: what calls tell.</summary>
public sealed class KeyCellsTests
{
    private static readonly ObjectId s_object = new(ObjectId.FirstUser.Value + 1);

    private readonly CallScopes _scopes = new(runtime: 7, cellBits: 64);

    // The first is a published value of the function.
    [Theory]
    [InlineData(0, "", 0x2D06800538D394C2UL)]
    [InlineData(256, "", 0x35754F52B083CA63UL)]
    [InlineData(256, "A178", 0x974B1519F0150365UL)]
    [InlineData(257, "A178", 0x2A25C1F94F6E58CFUL)]
    [InlineData(256, "A9616263646566676869", 0x2085AB239B01FAA9UL)]
    public void Cells_are_the_same_for_ever(ulong id, string key, ulong cell) =>
        Assert.Equal(cell, KeyCells.Of(new ObjectId(id), Convert.FromHexString(key)));

    [Fact]
    public void Update_tells_keys_or_the_whole_object()
    {
        var (a, b) = (ObjectKey.Of("a"), ObjectKey.Of("b"));
        Assert.Equal([Keyed(a)], _scopes.Update(s_object, a));
        Assert.Equal([Whole], _scopes.Update(s_object, ObjectKey.None));
        Assert.Equal([Keyed(a), Keyed(b)], _scopes.Update(s_object, ObjectKey.List(a, b)));
        var many = ObjectKey.List([.. Enumerable.Range(0, 300).Select(static i => ObjectKey.Of(i))]);
        Assert.Equal([Whole], _scopes.Update(s_object, many));
    }

    [Fact]
    public void Commit_tells_each_write_once_and_other_streams_as_read()
    {
        var entry = new DirectoryEntry(s_object, "object", "type", null, 1);
        var other = new ObjectId(s_object.Value + 1);
        var key = ObjectKey.Of("a");
        TxWrite[] writes = [.. Enumerable.Range(0, 2).Select(
            i => new TxWrite(entry, new MutatorInfo(1, "Set", Reads: false), key, default, i))];
        ImmutableArray<StreamId> streams = [s_object.Stream, other.Stream];
        Assert.Equal([Keyed(key), new CellScope(other.Stream, ScopeKind.None)],
            _scopes.Commit(writes, SpillList.Empty, streams));
        var spills = new SpillList([new SpillReference(default, [s_object])]);
        Assert.Equal([Whole, new CellScope(other.Stream, ScopeKind.None)], _scopes.Commit([], spills, streams));
    }

    [Fact]
    public void Read_of_a_later_member_reads_the_unit_of_the_first_one()
    {
        var first = new ObjectId(s_object.Value - 1);
        var key = ObjectKey.Of("a");
        var read = new TxRead(s_object, [key]);
        Assert.Equal([Keyed(key), new CellScope(first.Stream, ScopeKind.Unit)], _scopes.Reads([(read, first)]));
        Assert.Equal([Keyed(key)], _scopes.Reads([(read, s_object)]));
        Assert.Equal([Whole], _scopes.Reads([(new TxRead(s_object, null), s_object)]));
    }

    private static CellScope Whole => new(s_object.Stream, ScopeKind.Whole);

    private static CellScope Keyed(ObjectKey key) =>
        new(s_object.Stream, ScopeKind.Keyed, KeyCells.Of(s_object, key.Bytes));
}
