using System.Buffers;

namespace Tango.Tests;

/// <summary>A sum that tells its observers each number: also one that it refuses then, and one at which Apply fails as
/// <see cref="Fault"/> says.</summary>
public sealed class Watched : TangoObject, ITangoObject<Watched>
{
    private static readonly MutatorInfo s_add = new(1, "Add", Reads: true);
    private static readonly TangoObjectType s_type =
        new("test-watched", static () => new Watched(), static _ => { }, s_add);
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

    static TangoObjectType ITangoObject<Watched>.ObjectType => s_type;

    public ValueTask<long> AddAsync(long value)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, value);
        return UpdateHelperAsync<long>(s_add, ObjectKey.None, arguments, default);
    }

    public TangoPost Post(long value, IPostSink sink)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, value);
        return PostHelper(s_add, ObjectKey.None, arguments, sink);
    }

    public ValueTask<long> SumAsync() =>
        QueryHelperAsync<Watched, ValueTuple, long>(ObjectKey.None, default, static (view, _) => view._sum, default);

    public static long SumIn(ObservedView observed) => observed.Read<Watched, long>(static view => view._sum);

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        var value = Wire.ReadInt64(ref arguments);
        if (context.IsObserved) context.Emit(value);
        if (value < 0) throw Reject("negative");
        if (Fault?.Invoke(value) is { } fault) throw fault;
        _sum += value;
        // Each effect of a call is told.
        if (value % 2 == 0) context.Emit("even");
        context.Return(_sum);
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer) => Wire.WriteInt64(writer, _sum);

    void ITangoView.LoadState(ReadOnlyMemory<byte> state) => _sum = Wire.ReadInt64(ref state);
}
