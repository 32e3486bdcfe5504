using System.Collections.Immutable;
using MessagePack;
using Tango;
using Tango.Collections;

namespace Corfu.AotClient;

[MessagePackObject]
public sealed record Order([property: Key(0)] string Item, [property: Key(1)] int Count);

/// <summary>A value that its readers can change.</summary>
[MessagePackObject]
public sealed class Note
{
    [Key(0)]
    public string Text { get; set; } = "";
}

/// <summary>An object of the program's own.</summary>
[TangoObject("stock")]
public sealed partial class Stock : TangoObject
{
    private ImmutableSortedDictionary<string, int> _items =
        ImmutableSortedDictionary.Create<string, int>(StringComparer.Ordinal);

    [Mutator(1)]
    public partial ValueTask PutAsync([VersionKey] string item, int count, CancellationToken ct = default);

    [Mutator(2, MayReject = true)]
    public partial ValueTask<int> TakeAsync([VersionKey] string item, int count, CancellationToken ct = default);

    [Accessor]
    public partial ValueTask<int> LeftAsync([VersionKey] string item, CancellationToken ct = default);

    private void ApplyPut(string item, int count) => _items = _items.SetItem(item, count);

    private int ApplyTake(string item, int count)
    {
        var left = _items.GetValueOrDefault(item) - count;
        if (left < 0) throw Reject($"{-left} of '{item}' are missing");
        _items = _items.SetItem(item, left);
        return left;
    }

    private int ReadLeft(string item) => _items.GetValueOrDefault(item);
}

[TangoContext("aot-shop")]
public sealed partial class ShopContext : TangoContext
{
    public partial Stock Stock { get; }

    public partial TangoDictionary<string, Order> Orders { get; }

#pragma warning disable TANGO025 // Each reader gets a copy, in a native program too.
    public partial TangoRegister<Note> Note { get; }
#pragma warning restore TANGO025
}
