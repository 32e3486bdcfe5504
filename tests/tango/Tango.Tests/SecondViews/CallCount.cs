using System.Buffers;

namespace Tango.Tests.SecondViews;

/// <summary>A second view that only the whole history makes: how often <see cref="Accounts"/> were changed.</summary>
internal sealed class CallCount : TangoObject, ITangoObject<CallCount>
{
    private static readonly TangoObjectType s_type = new(
        "test-call-count", static () => new CallCount(), static _ => { },
        [.. Enumerable.Range(1, 4).Select(static number => new MutatorInfo(number, $"{number}", number is 2 or 3))]);

    private long _calls;
    private long _versions;
    private RecordVersion _version;

    static TangoObjectType ITangoObject<CallCount>.ObjectType => s_type;

    public ValueTask<long> CountAsync() => QueryHelperAsync<CallCount, ValueTuple, long>(
        ObjectKey.None, default, static (view, _) => view._calls, default);

    /// <summary>Versions of the calls, where those of a transaction have one.</summary>
    public ValueTask<long> VersionsAsync() => QueryHelperAsync<CallCount, ValueTuple, long>(
        ObjectKey.None, default, static (view, _) => view._versions, default);

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        _calls++;
        if (context.Version != _version) _versions++;
        _version = context.Version;
    }

    void ITangoView.SaveState(IBufferWriter<byte> writer) => Wire.WriteInt64(writer, _calls);

    void ITangoView.LoadState(ReadOnlyMemory<byte> state) => _calls = Wire.ReadInt64(ref state);
}
