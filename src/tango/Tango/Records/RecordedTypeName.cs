using System.Collections.Immutable;
using Tango.Formatting;

namespace Tango;

/// <summary>
/// An object's type as the directory records it: its name, and the user's serializers that its values are written by,
/// as in <c>ledger with geo/1, money/2</c>. Objects created without any, or by code from before they had names, have
/// the name alone.
/// </summary>
/// <param name="Serializers">In order, each once.</param>
internal sealed record RecordedTypeName(string Plain, ImmutableArray<SerializerName> Serializers)
{
    private const string With = " with ";
    private const string Separator = ", ";

    public static RecordedTypeName Parse(string text)
    {
        int with = text.LastIndexOf(With, StringComparison.Ordinal);
        var none = new RecordedTypeName(text, []);
        if (with < 1) return none;
        var serializers = ImmutableArray.CreateBuilder<SerializerName>();
        foreach (string part in text[(with + With.Length)..].Split(Separator))
        {
            if (SerializerName.Parse(part) is not { } serializer) return none;
            serializers.Add(serializer);
        }

        return new RecordedTypeName(text[..with], serializers.ToImmutable());
    }

    public override string ToString() =>
        Serializers.IsEmpty ? Plain : Plain + With + string.Join(Separator, Serializers);
}
