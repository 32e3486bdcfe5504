using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using MessagePack.Formatters;

namespace Tango.Formatting;

/// <summary>
/// The MessagePack formatters of this process: generated ones for [MessagePackObject] types, the library's for its
/// simple types and tuples, and Tango's own for text, maps and sets. Others are registered by the user before an object
/// is opened.
/// </summary>
/// <remarks>Thread-safe. Formatters must be deterministic: the same value gives the same bytes in every process, and
/// the same bytes give equal values.</remarks>
public static class TangoFormatters
{
    /// <summary>Nesting of arrays, maps and generated types that a reader follows. Formatters recurse, so this bounds
    /// the stack: an overflow in playback would kill every replica at every restart.</summary>
    public const int MaxDepth = 64;

    /// <summary>Nesting that a mutator's arguments may have. Less than <see cref="MaxDepth"/>, because the same values
    /// stand deeper in a checkpoint.</summary>
    public const int MaxArgumentDepth = 48;

    // Registrations take no lock: a module initialiser that waited for one could deadlock with a thread that holds it
    // and waits for that initialiser.
    private static readonly ConcurrentDictionary<Type, object> s_known = new(BuiltInFormatters.Simple());
    private static readonly ConcurrentDictionary<Type, (SerializerName Name, Action CheckSample)> s_named = [];

    // Types that an object was opened with.
    private static readonly ConcurrentDictionary<Type, bool> s_stored = [];

    /// <summary>How all values are written and read: no typeless data, no compression, bounded depth.</summary>
    public static MessagePackSerializerOptions Options { get; } =
        new MessagePackSerializerOptions(TangoResolver.Instance).WithSecurity(
            MessagePackSecurity.UntrustedData.WithMaximumObjectGraphDepth(MaxDepth));

    /// <summary>The formatter of a type.</summary>
    /// <exception cref="TangoFormatException"><see cref="FormatError.NoFormatter"/>: it has none.</exception>
    public static IMessagePackFormatter<T> Get<T>() => Cache<T>.Formatter ?? Find<T>();

    /// <exception cref="TangoFormatException">The value cannot be written, or its type has no formatter.</exception>
    public static void Write<T>(ref MessagePackWriter writer, T value)
    {
        try
        {
            Get<T>().Serialize(ref writer, value, Options);
        }
        catch (Exception e) when (e is not (TangoFormatException or OutOfMemoryException))
        {
            throw TangoFormatException.Of(e);
        }
    }

    /// <exception cref="TangoFormatException">The bytes are not what <see cref="Write"/> writes.</exception>
    public static T Read<T>(ref MessagePackReader reader)
    {
        try
        {
            return Get<T>().Deserialize(ref reader, Options);
        }
        catch (Exception e) when (e is not (TangoFormatException or OutOfMemoryException))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    /// <summary>The bytes of one value.</summary>
    /// <exception cref="TangoFormatException">As <see cref="Write"/>.</exception>
    public static ReadOnlyMemory<byte> ToBytes<T>(T value)
    {
        var buffer = new ArgumentBuffer();
        var writer = new MessagePackWriter(buffer);
        Write(ref writer, value);
        writer.Flush();
        return buffer.WrittenMemory;
    }

    /// <summary>For generated code: the header of the arguments' array.</summary>
    public static void ReadArguments(ref MessagePackReader reader, int count)
    {
        try
        {
            reader.ReadArrayHeader(count);
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    /// <summary>For generated code: steps over an argument that playback does not need.</summary>
    public static void Skip(ref MessagePackReader reader)
    {
        try
        {
            reader.SkipValue();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    /// <summary>For generated code: the header of a state's map.</summary>
    public static int ReadState(ref MessagePackReader reader)
    {
        try
        {
            return reader.ReadMapCount();
        }
        catch (Exception e) when (StrictMessagePack.IsDamage(e))
        {
            throw TangoFormatException.Of(e, reader.Consumed);
        }
    }

    /// <summary>For generated code: nothing may stand behind what was read.</summary>
    public static void RequireEnd(ref MessagePackReader reader)
    {
        if (!reader.End)
            throw new TangoFormatException(FormatError.Invalid, "Bytes are left behind the last value",
                reader.Consumed);
    }

    /// <summary>For generated code: whether values of the type may nest without end, so that their depth is to be
    /// looked at.</summary>
    public static bool MayNest<T>() => Nesting<T>.IsPossible;

    /// <summary>For generated code: refuses arguments that could be written and not be read again. Such a record would
    /// stop the object in every replica.</summary>
    /// <exception cref="TangoFormatException"><see cref="FormatError.TooDeep"/>.</exception>
    public static void RequireShallow(ArgumentBuffer arguments)
    {
        var reader = new MessagePackReader(arguments.WrittenMemory);
        if (!StrictMessagePack.IsWithin(ref reader, MaxArgumentDepth))
            throw new TangoFormatException(FormatError.TooDeep,
                $"The value is nested deeper than {MaxArgumentDepth}, or contains itself");
    }

    /// <summary>Registers a formatter for one type, in place of a built-in or generated one. It must happen before the
    /// type is first used.</summary>
    /// <param name="name">Name that the directory records with the objects that store the type: ASCII letters, digits,
    /// '.', '-' and '_'.</param>
    /// <param name="version">Version of the bytes, from 1. Objects recorded with another version are not
    /// opened.</param>
    /// <param name="sample">A value whose members all differ from their defaults. An object that stores the type is
    /// opened only if it comes back as it was written.</param>
    /// <exception cref="InvalidOperationException">The type is in use: bytes written so far and from now on would
    /// differ. Or the name is registered with another version.</exception>
    public static void Register<T>(IMessagePackFormatter<T> formatter, string name, int version, T sample)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        var named = SerializerName.Of(name, version);
        if (Cache<T>.Formatter is not null || s_stored.ContainsKey(typeof(T)))
            throw new InvalidOperationException(
                $"{typeof(T)} is already in use: register its formatter before anything is opened");
        if (s_named.Any(other => other.Value.Name.Name == name && other.Value.Name.Version != version))
            throw new InvalidOperationException($"'{name}' is registered with another version");
        s_named[typeof(T)] = (named, () => CheckSample(sample));
        s_known[typeof(T)] = formatter;
    }

    /// <summary>
    /// Registers a generated formatter unless the type has one. Called by module initialisers and when objects are
    /// opened; the order of these and of the user's own registration is not known.
    /// </summary>
    public static void RegisterGenerated<T>(IMessagePackFormatter<T> formatter)
    {
        ArgumentNullException.ThrowIfNull(formatter);
        s_known.TryAdd(typeof(T), formatter);
    }

    internal static bool IsGeneratedImmutable(Type type) =>
        s_known.TryGetValue(type, out var formatter) && formatter is IGeneratedFormatter { IsImmutable: true };

    /// <summary>Throws if the type, or a type it is made of, has no formatter, or if a sample does not come
    /// back.</summary>
    /// <exception cref="TangoFormatException"><see cref="FormatError.NoFormatter"/> and others.</exception>
    public static void Verify<T>()
    {
        foreach (Type stored in FormatterClosure.Verify(typeof(T)))
        {
            s_stored[stored] = true;
            if (s_named.TryGetValue(stored, out var users)) users.CheckSample();
        }

        // Null says nothing of other types; the object's initial state is a sample too.
        if (typeof(T).IsValueType) CheckSample(default(T)!);
    }

    private static void CheckSample<T>(T sample)
    {
        var written = ToBytes(sample);
        var reader = new MessagePackReader(written);
        T back = Read<T>(ref reader);
        RequireEnd(ref reader);
        if (!ToBytes(back).Span.SequenceEqual(written.Span))
            throw new TangoFormatException($"A sample of {typeof(T)} is not what was written when it is read");
    }

    /// <summary>As <see cref="Verify{T}"/>, and throws also if the type cannot be a version key: the bytes of a key
    /// stand for its value, so equal values must have equal bytes.</summary>
    // Versions are kept by the bytes of a key (R18).
    public static void VerifyKey<T>()
    {
        Verify<T>();
        FormatterClosure.VerifyKey(typeof(T));
    }

    /// <summary>The user's, of the type and all that it is made of.</summary>
    internal static IEnumerable<SerializerName> SerializersOf(Type type)
    {
        foreach (Type part in FormatterClosure.Verify(type))
        {
            if (s_named.TryGetValue(part, out var users)) yield return users.Name;
        }
    }

    /// <summary>The formatter of a type, or null.</summary>
    internal static object? TryFind(Type type)
    {
        // A generated formatter registers in its module's initialiser, which a generic use alone does not run.
        RuntimeHelpers.RunModuleConstructor(type.Module.ModuleHandle);
        return s_known.GetValueOrDefault(type);
    }

    /// <summary>Null where <see cref="Get{T}"/> throws.</summary>
    internal static IMessagePackFormatter<T>? GetOrNull<T>() =>
        Cache<T>.Formatter ??= (IMessagePackFormatter<T>?)TryFind(typeof(T));

    private static IMessagePackFormatter<T> Find<T>() =>
        GetOrNull<T>() ?? throw FormatterClosure.Missing(typeof(T), []);

    private static class Nesting<T>
    {
        public static readonly bool IsPossible = FormatterClosure.MayNest(typeof(T));
    }

    private static class Cache<T>
    {
        // Null until the type is in use.
        public static volatile IMessagePackFormatter<T>? Formatter;
    }
}
