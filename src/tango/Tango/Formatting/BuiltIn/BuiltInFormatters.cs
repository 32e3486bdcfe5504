using MessagePack.Resolvers;

namespace Tango.Formatting;

/// <summary>
/// The types that are known without any registration. The library's formatters have its standard forms; where it
/// accepts any UTF-16, Tango has a formatter of its own. Types made of others are in <see cref="ClosedFormatters"/>.
/// </summary>
internal static class BuiltInFormatters
{
    public static IEnumerable<KeyValuePair<Type, object>> Simple() =>
    [
        Of<bool>(), Of<byte>(), Of<sbyte>(), Of<short>(), Of<ushort>(), Of<int>(), Of<uint>(), Of<long>(), Of<ulong>(),
        Of<char>(), Of<float>(), Of<double>(), Of<decimal>(), Of<byte[]>(),
        Of<ReadOnlyMemory<byte>>(), Of<Guid>(), Of<DateTime>(), Of<DateTimeOffset>(), Of<TimeSpan>(), Of<DateOnly>(),
        Of<TimeOnly>(),
        new(typeof(string), new TextFormatter()), new(typeof(LogPlace), new PlaceFormatter()),
    ];

    private static KeyValuePair<Type, object> Of<T>() =>
        new(typeof(T), BuiltinResolver.Instance.GetFormatter<T>()!);
}
