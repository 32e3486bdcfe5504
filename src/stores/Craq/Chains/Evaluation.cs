using System.Buffers.Text;
using System.Globalization;
using System.Text;

namespace Craq.Chains;

/// <summary>Values of clean objects that were loaded for an evaluation; valid while the object has that
/// version.</summary>
internal sealed class LoadedValues
{
    private readonly Dictionary<ObjectKey, (ObjectVersion Version, ReadOnlyMemory<byte> Value)> _values = [];

    public void Set(ObjectKey key, ObjectVersion version, ReadOnlyMemory<byte> value) =>
        _values[key] = (version, value);

    public bool TryFind(ObjectKey key, ObjectVersion version, out ReadOnlyMemory<byte> value)
    {
        var found = _values.TryGetValue(key, out var loaded) && loaded.Version == version;
        value = found ? loaded.Value : default;
        return found;
    }
}

/// <summary>A value that an evaluation needs from the disk before it can be repeated.</summary>
/// <param name="Slot">Null: the slot of the key itself.</param>
internal readonly record struct MissingValue(ObjectKey Key, Storage.ObjectSlot? Slot);

/// <summary>The newest version of an object, in the order of the log (C14).</summary>
/// <returns>False: the slot is not in memory.</returns>
internal delegate bool FindNewest(ObjectKey key, out KeyState state);

/// <summary>A mutation at the head: compares, reads and operations on the newest versions, in log order
/// (C14).</summary>
internal sealed class Evaluation(MutateRequest request, FindNewest find, LoadedValues? loaded, long wall)
{
    private readonly Dictionary<ObjectKey, Item> _items = [];
    private readonly List<MissingValue> _missing = [];
    private readonly List<ulong> _sums = [];

    // Bytes that one evaluation may copy: it is made under the node's lock.
    private const long MaxJoined = 64 << 20;

    // Bytes of the values that are loaded or read, and of those that are joined.
    private long _bytes;
    private long _joined;

    // In the order of their first operation, each once.
    private readonly List<Item> _written = [];

    public IReadOnlyList<MissingValue> Missing => _missing;

    /// <summary>Ok, <see cref="CraqStatus.Mismatch"/>, or <see cref="Status.TooLarge"/>.</summary>
    public Status Status { get; private set; }

    /// <summary>The place of a mismatch, as in <see cref="MutateResponse.Index"/>.</summary>
    public int Index { get; private set; }

    /// <summary>The version of the object that did not fit, after a mismatch.</summary>
    public ObjectVersion Found { get; private set; }

    /// <summary>The newest dirty version that the outcome depends on: a refusal waits for its commit (C3).</summary>
    public ObjectVersion Depends { get; private set; }

    public MutateResult Result { get; private set; } = MutateResult.Empty;

    public ImmutableArray<ObjectWrite> Writes { get; private set; } = [];

    /// <summary>An object as the operations so far have left it. <c>State</c> and <c>Version</c> are as before
    /// them.</summary>
    private sealed class Item
    {
        public ObjectKey Key;
        public KeyState State;

        // The value, or the slot, is missing: it is in _missing, once.
        public bool IsMissing;
        public bool IsWritten;
        public bool IsFound;
        public ObjectVersion Version;
        public uint Flags;
        public long Expiry;
        public ReadOnlyMemory<byte>? Value;
    }

    /// <summary>False: values are missing; load them and evaluate again.</summary>
    public bool Run()
    {
        var reads = ImmutableArray.CreateBuilder<ObjectResult>(request.Reads.Length);
        foreach (var key in request.Reads)
        {
            if (Get(key, withValue: true) is not { } item) continue;
            _bytes += item.Value?.Length ?? 0;
            // Committed when it is shown: the answer waits for that.
            reads.Add(item.IsFound
                ? item.State.Result(item.Value ?? default, isDirty: false)
                : item.State.Missing(isDirty: false));
        }

        for (var i = 0; i < request.Compares.Length && Status == Status.Ok; i++)
        {
            var compare = request.Compares[i];
            var item = Get(compare.Key, compare.Kind == ObjectCompareKind.Value);
            if (item is not null && _missing.Count == 0 && !Holds(compare, item)) Refuse(i, item);
        }

        for (var i = 0; i < request.Operations.Length && Status == Status.Ok; i++)
        {
            if (!Apply(request.Operations[i], out var item)) Refuse(request.Compares.Length + i, item);
        }

        if (_bytes > MessageLimits.MaxFrame || _joined > MaxJoined) Status = Status.TooLarge;
        else if (_missing.Count > 0) return false;
        if (Status != Status.Ok) return true;
        if (reads.Count + _sums.Count > 0) Result = new MutateResult(reads.ToImmutable(), [.. _sums]);
        Writes = [.. _written.Select(Written)];
        return true;
    }

    private void Refuse(int index, Item? item)
    {
        Status = CraqStatus.Mismatch;
        Index = index;
        Found = item is { IsFound: true } ? item.Version : ObjectVersion.None;
    }

    private static bool Holds(in ObjectCompare compare, Item item) => compare.Kind switch
    {
        ObjectCompareKind.Version => (item.IsFound ? item.Version : ObjectVersion.None) == compare.Version,
        ObjectCompareKind.Exists => item.IsFound,
        ObjectCompareKind.Absent => !item.IsFound,
        _ => item.IsFound && item.Value!.Value.Span.SequenceEqual(compare.Value.Span),
    };

    // False: the operation does not fit its object. True also while a value is missing.
    private bool Apply(in ObjectOperation operation, out Item? item)
    {
        item = null;
        if (operation.Kind == ObjectOperationKind.Clear) return true;
        var needsValue = operation.Kind is ObjectOperationKind.Append or ObjectOperationKind.Prepend
            or ObjectOperationKind.Add or ObjectOperationKind.Touch;
        item = Get(operation.Key, needsValue);
        if (item is null) return true;
        if (operation.Kind != ObjectOperationKind.Put && !item.IsFound) return false;
        var value = item.Value ?? default;
        ReadOnlyMemory<byte>? next = operation.Kind switch
        {
            ObjectOperationKind.Put => operation.Value,
            ObjectOperationKind.Append => Join(value, operation.Value),
            ObjectOperationKind.Prepend => Join(operation.Value, value),
            ObjectOperationKind.Touch => value,
            ObjectOperationKind.Add => Sum(value, operation.Delta),
            _ => null,
        };
        if (operation.Kind == ObjectOperationKind.Add && next is null) return false;
        if (!item.IsWritten) _written.Add(item);
        item.IsWritten = true;
        if (operation.Kind == ObjectOperationKind.Put) item.Flags = operation.Flags;
        if (!item.IsFound) item.Expiry = 0;
        if (operation.Expiry != ObjectOperation.KeepExpiry && operation.Kind is ObjectOperationKind.Put
            or ObjectOperationKind.Touch) item.Expiry = Math.Max(0, operation.Expiry);
        item.IsFound = next is not null;
        item.Value = next;
        return true;
    }

    private static ObjectWrite Written(Item item) => item.IsFound
        ? new ObjectWrite(item.Key, item.Flags, item.Expiry, item.Value)
        : new ObjectWrite(item.Key, 0, 0, null);

    // Null: something is missing, and the evaluation is made again.
    private Item? Get(ObjectKey key, bool withValue)
    {
        if (!_items.TryGetValue(key, out var item))
        {
            if (!find(key, out var state))
            {
                _items.Add(key, new Item { Key = key, IsMissing = true });
                _missing.Add(new MissingValue(key, null));
                return null;
            }

            // Absent by this clock, and overwritten or deleted as the version that it is (C21).
            var isFound = state.IsFound && !state.IsExpired(wall);
            item = new Item
            {
                Key = key,
                State = state,
                IsFound = isFound,
                Version = state.Version,
                Flags = isFound ? state.Flags : 0,
                Expiry = isFound ? state.Expiry : 0,
                Value = isFound ? state.Dirty?.Write.Value : null,
            };
            if (state.IsDirty) Depends = ObjectVersion.Max(Depends, state.Version);
            _items.Add(key, item);
        }

        if (item.IsMissing) return null;
        if (!withValue || !item.IsFound || item.Value is not null) return item;
        if (loaded is not null && loaded.TryFind(key, item.State.Version, out var value))
        {
            item.Value = value;
            return item;
        }

        item.IsMissing = true;
        _missing.Add(new MissingValue(key, item.State.Slot));
        _bytes += item.State.Length;
        return null;
    }

    private ReadOnlyMemory<byte> Join(ReadOnlyMemory<byte> first, ReadOnlyMemory<byte> second)
    {
        // The request is refused then.
        if ((_joined += first.Length + second.Length) > MaxJoined) return default;
        var joined = new byte[first.Length + second.Length];
        first.CopyTo(joined);
        second.CopyTo(joined.AsMemory(first.Length));
        return joined;
    }

    // Null: the value is no number of 64 bits. Upwards the sum wraps, downwards it stops at 0, as in memcached.
    private ReadOnlyMemory<byte>? Sum(ReadOnlyMemory<byte> value, long delta)
    {
        var digits = value.Span.TrimEnd((byte)' ');
        if (!Utf8Parser.TryParse(digits, out ulong number, out var used) || used != digits.Length) return null;
        var sum = delta >= 0
            ? unchecked(number + (ulong)delta)
            : number - Math.Min(number, unchecked((ulong)-delta));
        _sums.Add(sum);
        return Encoding.ASCII.GetBytes(sum.ToString(CultureInfo.InvariantCulture));
    }
}
