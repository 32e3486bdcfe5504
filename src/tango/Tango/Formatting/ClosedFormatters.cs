using MessagePack.Formatters;
using MessagePack.ImmutableCollection;

namespace Tango.Formatting;

/// <summary>
/// The formatters of types that are made of others. Each method makes that of one type known, named after the type. The
/// generator calls them for the types that objects and values store; generic code of the user's calls them itself.
/// </summary>
/// <remarks>
/// A formatter that is constructed here is compiled with the program: none is built by reflection when an object is
/// opened. Where the library writes enumeration order or uses other comparers when reading, Tango has formatters of its
/// own. A formatter that the user registered for the type stays.
/// </remarks>
public static class ClosedFormatters
{
    public static void Array<T>() => Add(new ArrayFormatter<T>());

    public static void Enum<T>()
        where T : struct, Enum => Add(new GenericEnumFormatter<T>());

    public static void Nullable<T>()
        where T : struct => Add(new NullableFormatter<T>());

    public static void List<T>() => Add(new ListFormatter<T>());

    public static void IReadOnlyList<T>() => Add(new InterfaceReadOnlyListFormatter<T>());

    public static void Queue<T>() => Add(new QueueFormatter<T>());

    public static void Stack<T>() => Add(new StackFormatter<T>());

    public static void HashSet<T>() => Add(new CanonicalHashSetFormatter<T>());

    public static void SortedSet<T>() => Add(new OrdinalSortedSetFormatter<T>());

    public static void Dictionary<TKey, TValue>()
        where TKey : notnull => Add(new CanonicalDictionaryFormatter<TKey, TValue>());

    public static void SortedDictionary<TKey, TValue>()
        where TKey : notnull => Add(new OrdinalSortedDictionaryFormatter<TKey, TValue>());

    public static void KeyValuePair<TKey, TValue>() => Add(new KeyValuePairFormatter<TKey, TValue>());

    public static void ImmutableArray<T>() => Add(new ImmutableArrayFormatter<T>());

    public static void ImmutableList<T>() => Add(new ImmutableListFormatter<T>());

    public static void ImmutableQueue<T>() => Add(new ImmutableQueueFormatter<T>());

    public static void ImmutableStack<T>() => Add(new ImmutableStackFormatter<T>());

    public static void ImmutableHashSet<T>() => Add(new CanonicalImmutableHashSetFormatter<T>());

    public static void ImmutableSortedSet<T>() => Add(new OrdinalImmutableSortedSetFormatter<T>());

    public static void ImmutableDictionary<TKey, TValue>()
        where TKey : notnull => Add(new CanonicalImmutableDictionaryFormatter<TKey, TValue>());

    public static void ImmutableSortedDictionary<TKey, TValue>()
        where TKey : notnull => Add(new OrdinalImmutableSortedDictionaryFormatter<TKey, TValue>());

    public static void ValueTuple<T>() => Add(new ValueTupleFormatter<T>());

    public static void ValueTuple<T1, T2>() => Add(new ValueTupleFormatter<T1, T2>());

    public static void ValueTuple<T1, T2, T3>() => Add(new ValueTupleFormatter<T1, T2, T3>());

    public static void ValueTuple<T1, T2, T3, T4>() => Add(new ValueTupleFormatter<T1, T2, T3, T4>());

    public static void ValueTuple<T1, T2, T3, T4, T5>() => Add(new ValueTupleFormatter<T1, T2, T3, T4, T5>());

    public static void ValueTuple<T1, T2, T3, T4, T5, T6>() => Add(new ValueTupleFormatter<T1, T2, T3, T4, T5, T6>());

    public static void ValueTuple<T1, T2, T3, T4, T5, T6, T7>() =>
        Add(new ValueTupleFormatter<T1, T2, T3, T4, T5, T6, T7>());

    public static void ValueTuple<T1, T2, T3, T4, T5, T6, T7, TRest>()
        where TRest : struct => Add(new ValueTupleFormatter<T1, T2, T3, T4, T5, T6, T7, TRest>());

    public static void Tuple<T>() => Add(new TupleFormatter<T>());

    public static void Tuple<T1, T2>() => Add(new TupleFormatter<T1, T2>());

    public static void Tuple<T1, T2, T3>() => Add(new TupleFormatter<T1, T2, T3>());

    public static void Tuple<T1, T2, T3, T4>() => Add(new TupleFormatter<T1, T2, T3, T4>());

    public static void Tuple<T1, T2, T3, T4, T5>() => Add(new TupleFormatter<T1, T2, T3, T4, T5>());

    public static void Tuple<T1, T2, T3, T4, T5, T6>() => Add(new TupleFormatter<T1, T2, T3, T4, T5, T6>());

    public static void Tuple<T1, T2, T3, T4, T5, T6, T7>() => Add(new TupleFormatter<T1, T2, T3, T4, T5, T6, T7>());

    private static void Add<T>(IMessagePackFormatter<T> formatter) => TangoFormatters.RegisterGenerated(formatter);
}
