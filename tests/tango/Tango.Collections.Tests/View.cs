using System.Buffers;
using System.Reflection;
using Tango.Formatting;

namespace Tango.Collections.Tests;

/// <summary>A view alone, driven as playback drives it, by records' bytes: no runtime, no log.</summary>
internal sealed class View<TObject>
    where TObject : TangoObject, ITangoObject<TObject>, new()
{
    private ITangoView _view = new TObject();

    // Reading the type registers the formatters of its state, as opening does.
    static View() => _ = TObject.ObjectType;

    public TResult Apply<TResult>(int mutator, byte[] key, byte[] arguments)
    {
        var result = new ApplyResult<TResult>();
        _view.Apply(mutator, key, arguments, new ApplyContext(result));
        return result.Value!;
    }

    public void Apply(int mutator, byte[] key, byte[] arguments) => _view.Apply(mutator, key, arguments, default);

    public TResult Read<TResult>(string method, params object?[] arguments)
    {
        const BindingFlags flags = BindingFlags.Instance | BindingFlags.NonPublic | BindingFlags.DoNotWrapExceptions;
        return (TResult)typeof(TObject).GetMethod(method, flags)!.Invoke(_view, flags, null, arguments, null)!;
    }

    public IEnumerable<LeaseInfo> Leases => ((ITangoLeased)_view).Leases;

    public byte[] Save()
    {
        var state = new ArrayBufferWriter<byte>();
        _view.SaveState(state);
        return state.WrittenSpan.ToArray();
    }

    /// <summary>Goes on with a view loaded from a checkpoint of this one, which saves the same bytes again.</summary>
    public void Reload()
    {
        byte[] state = Save();
        _view = new TObject();
        _view.LoadState(state);
        Assert.Equal(state, Save());
    }
}

internal static class Bytes
{
    public static byte[] NoKey { get; } = [];

    public static byte[] NoArguments { get; } = [0x90];

    public static byte[] Key<T>(T value) => Of(value);

    public static byte[] Arguments<T>(T value)
    {
        ClosedFormatters.ValueTuple<T>();
        return Of(ValueTuple.Create(value));
    }

    public static byte[] Arguments<T1, T2>(T1 first, T2 second)
    {
        ClosedFormatters.ValueTuple<T1, T2>();
        return Of((first, second));
    }

    public static byte[] Arguments<T1, T2, T3>(T1 first, T2 second, T3 third)
    {
        ClosedFormatters.ValueTuple<T1, T2, T3>();
        return Of((first, second, third));
    }

    private static byte[] Of<T>(T value) => TangoFormatters.ToBytes(value).ToArray();
}
