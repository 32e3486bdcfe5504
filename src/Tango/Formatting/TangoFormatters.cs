using System.Collections.Concurrent;
using System.Collections.Immutable;
using System.Runtime.CompilerServices;

namespace Tango.Formatting;

/// <summary>
/// The formatters of this process. Built in: primitives, string, byte[], Guid, date and time types, decimal, enums,
/// nullables, tuples, arrays and the usual collections; types marked [TangoValue] register themselves; others are
/// registered by the user before an object is opened.
/// </summary>
/// <remarks>Thread-safe. Reflection happens at the first <see cref="Get{T}"/> of a type only.</remarks>
public static class TangoFormatters
{
    // Registrations take no lock: a module initialiser that waited for Gate, run by one thread, would deadlock with
    // another thread that holds Gate and waits for that initialiser.
    private static readonly ConcurrentDictionary<Type, object> Known = new();
    private static readonly ConcurrentDictionary<Type, Type> Generics = new();
    // Guards all state below. Held while formatters resolve their parts, which come back here on the same thread.
    private static readonly Lock Gate = new();
    // Formatters found since the outermost Get: published together once all of them are complete, so that no other
    // thread meets half a one.
    private static readonly Dictionary<Type, object> Resolving = [];
    private static readonly List<Type> Path = [];

    static TangoFormatters()
    {
        AddSimple();
        AddGenerics();
    }

    /// <summary>The formatter of a type.</summary>
    /// <exception cref="TangoFormatException"><see cref="FormatError.NoFormatter"/>: it, or a type it is made of, has
    /// none.</exception>
    public static ITangoFormatter<T> Get<T>() => Cache<T>.Formatter ?? Find<T>();

    /// <summary>Registers a formatter for one type, in place of a built-in or generated one. It must happen before the
    /// type is first used.</summary>
    /// <exception cref="InvalidOperationException">The type is in use: bytes written so far and from now on would
    /// differ.</exception>
    public static void Register<T>(ITangoFormatter<T> formatter)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        if (Cache<T>.Formatter is not null)
            throw new InvalidOperationException(
                $"{typeof(T)} is already in use: register its formatter before anything is opened");
        Known[typeof(T)] = formatter;
    }

    /// <summary>
    /// Registers a generated formatter unless the user has registered one for the type. Called by module initialisers,
    /// whose order against the user's own registration is not known.
    /// </summary>
    public static void RegisterGenerated<T>(ITangoFormatter<T> formatter)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        Known.TryAdd(typeof(T), formatter);
    }

    /// <summary>
    /// Registers an open generic formatter, for example <c>typeof(PairFormatter&lt;,&gt;)</c> for
    /// <c>typeof(Pair&lt;,&gt;)</c>. It takes the same type arguments in the same order and has a public parameterless
    /// constructor.
    /// </summary>
    public static void RegisterGeneric(Type openType, Type openFormatter)
    {
        ArgumentNullException.ThrowIfNull(openType);
        ArgumentNullException.ThrowIfNull(openFormatter);
        if (!openType.IsGenericTypeDefinition || !openFormatter.IsGenericTypeDefinition)
            throw new ArgumentException("Both must be open generic types", nameof(openType));
        Generics[openType] = openFormatter;
    }

    /// <summary>Throws as <see cref="Get{T}"/> does, and also if the type cannot be a version key
    /// (<see cref="ITangoFormatter{T}.IsVersionKey"/>).</summary>
    public static void VerifyKey<T>()
    {
        if (Get<T>().IsVersionKey) return;
        throw new TangoFormatException(
            FormatError.NoFormatter,
            $"{typeof(T)} cannot be a version key: values of it that are equal may be written as different bytes");
    }

    private static ITangoFormatter<T> Find<T>()
    {
        // A [TangoValue] type registers in its module's initialiser, which a generic use alone does not run.
        RuntimeHelpers.RunModuleConstructor(typeof(T).Module.ModuleHandle);
        lock (Gate)
        {
            if (Cache<T>.Formatter is { } done) return done;
            if (Resolving.TryGetValue(typeof(T), out object? partial)) return ((Pending<T>)partial).Formatter;
            bool outermost = Path.Count == 0;
            Path.Add(typeof(T));
            try
            {
                ITangoFormatter<T> formatter = Create<T>();
                Resolving.Add(typeof(T), new Pending<T>(formatter));
                formatter.Resolve();
                if (outermost) Publish();
                return formatter;
            }
            finally
            {
                Path.RemoveAt(Path.Count - 1);
                if (outermost) Resolving.Clear();
            }
        }
    }

    private static void Publish()
    {
        foreach (object pending in Resolving.Values) ((IPending)pending).Publish();
    }

    private static ITangoFormatter<T> Create<T>()
    {
        Type type = typeof(T);
        if (Known.TryGetValue(type, out object? known)) return (ITangoFormatter<T>)known;
        Type? formatter = null;
        if (type.IsEnum) formatter = typeof(EnumFormatter<>).MakeGenericType(type);
        else if (type.IsSZArray) formatter = typeof(ArrayFormatter<>).MakeGenericType(type.GetElementType()!);
        else if (type.IsGenericType && Generics.TryGetValue(type.GetGenericTypeDefinition(), out Type? open))
            formatter = open.MakeGenericType(type.GetGenericArguments());
        if (formatter is not null) return (ITangoFormatter<T>)Activator.CreateInstance(formatter)!;
        string path = Path.Count == 1
            ? ""
            : $" (needed by {string.Join(", by ", Path.AsEnumerable().Reverse().Skip(1))})";
        throw new TangoFormatException(
            FormatError.NoFormatter,
            $"{type} has no formatter{path}: mark it [TangoValue] or call TangoFormatters.Register");
    }

    private static void AddSimple()
    {
        Add(new BooleanFormatter());
        Add(new ByteFormatter());
        Add(new SByteFormatter());
        Add(new Int16Formatter());
        Add(new UInt16Formatter());
        Add(new Int32Formatter());
        Add(new UInt32Formatter());
        Add(new Int64Formatter());
        Add(new UInt64Formatter());
        Add(new CharFormatter());
        Add(new SingleFormatter());
        Add(new DoubleFormatter());
        Add(new StringFormatter());
        Add(new BytesFormatter());
        Add(new ReadOnlyMemoryFormatter());
        Add(new GuidFormatter());
        Add(new DecimalFormatter());
        Add(new DateTimeFormatter());
        Add(new DateTimeOffsetFormatter());
        Add(new TimeSpanFormatter());
        Add(new DateOnlyFormatter());
        Add(new TimeOnlyFormatter());
    }

    private static void Add<T>(ITangoFormatter<T> formatter) => Known[typeof(T)] = formatter;

    private static void AddGenerics()
    {
        (Type Type, Type Formatter)[] pairs =
        [
            (typeof(Nullable<>), typeof(NullableFormatter<>)),
            (typeof(List<>), typeof(ListFormatter<>)),
            (typeof(IReadOnlyList<>), typeof(ReadOnlyListFormatter<>)),
            (typeof(Queue<>), typeof(QueueFormatter<>)),
            (typeof(Stack<>), typeof(StackFormatter<>)),
            (typeof(HashSet<>), typeof(HashSetFormatter<>)),
            (typeof(SortedSet<>), typeof(SortedSetFormatter<>)),
            (typeof(Dictionary<,>), typeof(DictionaryFormatter<,>)),
            (typeof(SortedDictionary<,>), typeof(SortedDictionaryFormatter<,>)),
            (typeof(KeyValuePair<,>), typeof(KeyValuePairFormatter<,>)),
            (typeof(ImmutableArray<>), typeof(ImmutableArrayFormatter<>)),
            (typeof(ImmutableList<>), typeof(ImmutableListFormatter<>)),
            (typeof(ImmutableQueue<>), typeof(ImmutableQueueFormatter<>)),
            (typeof(ImmutableStack<>), typeof(ImmutableStackFormatter<>)),
            (typeof(ImmutableHashSet<>), typeof(ImmutableHashSetFormatter<>)),
            (typeof(ImmutableSortedSet<>), typeof(ImmutableSortedSetFormatter<>)),
            (typeof(ImmutableDictionary<,>), typeof(ImmutableDictionaryFormatter<,>)),
            (typeof(ImmutableSortedDictionary<,>), typeof(ImmutableSortedDictionaryFormatter<,>)),
            (typeof(ValueTuple<>), typeof(ValueTupleFormatter<>)),
            (typeof(ValueTuple<,>), typeof(ValueTupleFormatter<,>)),
            (typeof(ValueTuple<,,>), typeof(ValueTupleFormatter<,,>)),
            (typeof(ValueTuple<,,,>), typeof(ValueTupleFormatter<,,,>)),
            (typeof(ValueTuple<,,,,>), typeof(ValueTupleFormatter<,,,,>)),
            (typeof(ValueTuple<,,,,,>), typeof(ValueTupleFormatter<,,,,,>)),
            (typeof(ValueTuple<,,,,,,>), typeof(ValueTupleFormatter<,,,,,,>)),
            (typeof(ValueTuple<,,,,,,,>), typeof(ValueTupleFormatter<,,,,,,,>)),
            (typeof(Tuple<>), typeof(TupleFormatter<>)),
            (typeof(Tuple<,>), typeof(TupleFormatter<,>)),
            (typeof(Tuple<,,>), typeof(TupleFormatter<,,>)),
            (typeof(Tuple<,,,>), typeof(TupleFormatter<,,,>)),
            (typeof(Tuple<,,,,>), typeof(TupleFormatter<,,,,>)),
            (typeof(Tuple<,,,,,>), typeof(TupleFormatter<,,,,,>)),
            (typeof(Tuple<,,,,,,>), typeof(TupleFormatter<,,,,,,>)),
        ];
        foreach ((Type type, Type formatter) in pairs) Generics[type] = formatter;
    }

    private interface IPending
    {
        void Publish();
    }

    private sealed record Pending<T>(ITangoFormatter<T> Formatter) : IPending
    {
        public void Publish() => Cache<T>.Formatter = Formatter;
    }

    private static class Cache<T>
    {
        // Written once, after the formatter is complete.
        public static volatile ITangoFormatter<T>? Formatter;
    }
}
