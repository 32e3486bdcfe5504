using System.Buffers;

namespace Tango.Tests;

/// <summary>An object recorded under any type name, as other code would have created it.</summary>
internal sealed class Renamed<TName> : TangoObject, ITangoObject<Renamed<TName>>
    where TName : Renamed<TName>.IName
{
    private static readonly MutatorInfo s_put = new(1, "Put", Reads: false);
    private static readonly TangoObjectType s_type =
        new(TName.Name, static () => new Renamed<TName>(), static _ => { }, s_put);

    internal interface IName
    {
        static abstract string Name { get; }
    }

    static TangoObjectType ITangoObject<Renamed<TName>>.ObjectType => s_type;

    public ValueTask PutAsync(long value)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, value);
        return UpdateHelperAsync(s_put, ObjectKey.None, arguments, default);
    }

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
    }

    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
    }
}
