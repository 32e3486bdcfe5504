using System.Buffers;
using Tango.Formatting;

namespace Tango.Tests;

/// <summary>The type of <see cref="Ledger"/> as a program has it that cannot use it.</summary>
internal sealed class Unusable<TFault> : TangoObject, ITangoObject<Unusable<TFault>>
    where TFault : Unusable<TFault>.IFault
{
    private static readonly TangoObjectType s_type =
        new("test-ledger", static () => new Unusable<TFault>(), static types => TFault.Verify(types));

    public Unusable() => TFault.Construct();

    internal interface IFault
    {
        static abstract void Verify(StoredTypes types);

        static abstract void Construct();
    }

    static TangoObjectType ITangoObject<Unusable<TFault>>.ObjectType => s_type;

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context) => throw new InvalidOperationException("It has no view");

    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
    }
}

/// <summary>No formatter is registered for what it stores.</summary>
internal sealed class NoFormatter : Unusable<NoFormatter>.IFault
{
    public static void Verify(StoredTypes types) => types.Add<Uri>();

    public static void Construct()
    {
    }
}

/// <summary>The user's constructor fails.</summary>
internal sealed class NoConstructor : Unusable<NoConstructor>.IFault
{
    public static void Verify(StoredTypes types)
    {
    }

    public static void Construct() => throw new InvalidOperationException("Not in this program");
}
