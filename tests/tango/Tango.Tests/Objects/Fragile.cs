using System.Buffers;

namespace Tango.Tests;

/// <summary>An object with a bug: Apply fails half-way through for the number 13, and as <see cref="Fault"/> says for
/// others.</summary>
public sealed class Fragile : TangoObject, ITangoObject<Fragile>
{
    private static readonly MutatorInfo s_put = new(1, "Put", Reads: false);
    private static readonly TangoObjectType s_type =
        new("test-fragile", static () => new Fragile(), static _ => { }, s_put);
    private long _sum;

    // Playback runs on the thread of a test with a SeededContext.
    [ThreadStatic]
    private static Func<long, Exception?>? t_fault;

    /// <summary>Fault of views that the calling thread plays.</summary>
    public static Func<long, Exception?>? Fault
    {
        get => t_fault;
        set => t_fault = value;
    }

    static TangoObjectType ITangoObject<Fragile>.ObjectType => s_type;

    public ValueTask PutAsync(long value)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, value);
        return UpdateHelperAsync(s_put, ObjectKey.None, arguments, default);
    }

    public ValueTask<long> SumAsync() =>
        QueryHelperAsync<Fragile, ValueTuple, long>(ObjectKey.None, default, static (view, _) => view._sum, default);

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        var value = Wire.ReadInt64(ref arguments);
        _sum += value;
        if (value == 13) throw new InvalidOperationException("thirteen");
        if (Fault?.Invoke(value) is { } fault) throw fault;
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer) => Wire.WriteInt64(writer, _sum);

    void ITangoView.LoadState(ReadOnlyMemory<byte> state) => _sum = Wire.ReadInt64(ref state);
}
