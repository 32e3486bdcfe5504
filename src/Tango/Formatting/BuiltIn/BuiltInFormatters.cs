using System.Collections.Immutable;
using MessagePack.Formatters;
using MessagePack.ImmutableCollection;
using MessagePack.Resolvers;

namespace Tango.Formatting;

/// <summary>
/// The types that are known without any registration. The library's formatters have its standard forms; where it writes
/// enumeration order, uses other comparers when reading, or accepts any UTF-16, Tango has formatters of its own.
/// </summary>
internal static class BuiltInFormatters
{
    public static IEnumerable<KeyValuePair<Type, object>> Simple() =>
    [
        Of<bool>(), Of<byte>(), Of<sbyte>(), Of<short>(), Of<ushort>(), Of<int>(), Of<uint>(), Of<long>(), Of<ulong>(),
        Of<char>(), Of<float>(), Of<double>(), Of<decimal>(), Of<byte[]>(),
        Of<ReadOnlyMemory<byte>>(), Of<Guid>(), Of<DateTime>(), Of<DateTimeOffset>(), Of<TimeSpan>(), Of<DateOnly>(),
        Of<TimeOnly>(),
        new(typeof(string), new TextFormatter()),
    ];

    public static IEnumerable<KeyValuePair<Type, Type>> Generic() =>
    [
        new(typeof(Nullable<>), typeof(NullableFormatter<>)),
        new(typeof(List<>), typeof(ListFormatter<>)),
        new(typeof(IReadOnlyList<>), typeof(InterfaceReadOnlyListFormatter<>)),
        new(typeof(Queue<>), typeof(QueueFormatter<>)),
        new(typeof(Stack<>), typeof(StackFormatter<>)),
        new(typeof(HashSet<>), typeof(CanonicalHashSetFormatter<>)),
        new(typeof(SortedSet<>), typeof(OrdinalSortedSetFormatter<>)),
        new(typeof(Dictionary<,>), typeof(CanonicalDictionaryFormatter<,>)),
        new(typeof(SortedDictionary<,>), typeof(OrdinalSortedDictionaryFormatter<,>)),
        new(typeof(KeyValuePair<,>), typeof(KeyValuePairFormatter<,>)),
        new(typeof(ImmutableArray<>), typeof(ImmutableArrayFormatter<>)),
        new(typeof(ImmutableList<>), typeof(ImmutableListFormatter<>)),
        new(typeof(ImmutableQueue<>), typeof(ImmutableQueueFormatter<>)),
        new(typeof(ImmutableStack<>), typeof(ImmutableStackFormatter<>)),
        new(typeof(ImmutableHashSet<>), typeof(CanonicalImmutableHashSetFormatter<>)),
        new(typeof(ImmutableSortedSet<>), typeof(OrdinalImmutableSortedSetFormatter<>)),
        new(typeof(ImmutableDictionary<,>), typeof(CanonicalImmutableDictionaryFormatter<,>)),
        new(typeof(ImmutableSortedDictionary<,>), typeof(OrdinalImmutableSortedDictionaryFormatter<,>)),
        new(typeof(ValueTuple<>), typeof(ValueTupleFormatter<>)),
        new(typeof(ValueTuple<,>), typeof(ValueTupleFormatter<,>)),
        new(typeof(ValueTuple<,,>), typeof(ValueTupleFormatter<,,>)),
        new(typeof(ValueTuple<,,,>), typeof(ValueTupleFormatter<,,,>)),
        new(typeof(ValueTuple<,,,,>), typeof(ValueTupleFormatter<,,,,>)),
        new(typeof(ValueTuple<,,,,,>), typeof(ValueTupleFormatter<,,,,,>)),
        new(typeof(ValueTuple<,,,,,,>), typeof(ValueTupleFormatter<,,,,,,>)),
        new(typeof(ValueTuple<,,,,,,,>), typeof(ValueTupleFormatter<,,,,,,,>)),
        new(typeof(Tuple<>), typeof(TupleFormatter<>)),
        new(typeof(Tuple<,>), typeof(TupleFormatter<,>)),
        new(typeof(Tuple<,,>), typeof(TupleFormatter<,,>)),
        new(typeof(Tuple<,,,>), typeof(TupleFormatter<,,,>)),
        new(typeof(Tuple<,,,,>), typeof(TupleFormatter<,,,,>)),
        new(typeof(Tuple<,,,,,>), typeof(TupleFormatter<,,,,,>)),
        new(typeof(Tuple<,,,,,,>), typeof(TupleFormatter<,,,,,,>)),
    ];

    private static KeyValuePair<Type, object> Of<T>() =>
        new(typeof(T), BuiltinResolver.Instance.GetFormatter<T>()!);
}
