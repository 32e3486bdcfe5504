using System.Buffers;
using MessagePack.Formatters;
using Tango.Formatting;

namespace Tango.Tests;

/// <summary>Stored by a serializer of the user's.</summary>
public readonly record struct Money(long Cents);

internal sealed class MoneyFormatter : IMessagePackFormatter<Money>
{
    public void Serialize(ref MessagePackWriter writer, Money value, MessagePackSerializerOptions options) =>
        writer.Write(value.Cents);

    public Money Deserialize(ref MessagePackReader reader, MessagePackSerializerOptions options) =>
        new(reader.ReadInt64());
}

/// <summary>Holds money; written by hand the way generated code looks.</summary>
public sealed class Ledger : TangoObject, ITangoObject<Ledger>
{
    private static readonly MutatorInfo s_put = new(1, "Put", Reads: false);
    private static readonly TangoObjectType s_type =
        new("test-ledger", static () => new Ledger(), static types => types.Add<Money?>(), s_put);
    private Money? _sum;

    static Ledger()
    {
        TangoFormatters.Register(new MoneyFormatter(), "test-money", 2, new Money(7));
        ClosedFormatters.Nullable<Money>();
    }

    static TangoObjectType ITangoObject<Ledger>.ObjectType => s_type;

    public ValueTask PutAsync(long cents)
    {
        var arguments = new ArgumentBuffer();
        Wire.WriteInt64(arguments, cents);
        return UpdateHelperAsync(s_put, ObjectKey.None, arguments, default);
    }

    public ValueTask<long> SumAsync() =>
        QueryHelperAsync<Ledger, ValueTuple, long>(
            ObjectKey.None, default, static (view, _) => view._sum?.Cents ?? 0, default);

    void ITangoView.Apply(int mutator, ReadOnlyMemory<byte> key, ReadOnlyMemory<byte> arguments,
        in ApplyContext context)
    {
        _sum = new Money((_sum?.Cents ?? 0) + Wire.ReadInt64(ref arguments));
    }

    void ITangoView.SaveState(IBufferWriter<byte> output)
    {
        var writer = new MessagePackWriter(output);
        TangoFormatters.Write(ref writer, _sum);
        writer.Flush();
    }

    void ITangoView.LoadState(ReadOnlyMemory<byte> state)
    {
        var reader = new MessagePackReader(state);
        _sum = TangoFormatters.Read<Money?>(ref reader);
    }
}
