namespace Tango.Formatting;

/// <summary>Checks of a type and of all types it is made of, at the time an object is opened.</summary>
internal static class FormatterClosure
{
    private static readonly HashSet<Type> s_keys =
    [
        typeof(bool), typeof(byte), typeof(sbyte), typeof(short), typeof(ushort), typeof(int), typeof(uint),
        typeof(long), typeof(ulong), typeof(char), typeof(string), typeof(Guid), typeof(TimeSpan), typeof(DateOnly),
        typeof(TimeOnly), typeof(LogPlace),
    ];

    /// <summary>The type and all that it is made of.</summary>
    /// <exception cref="TangoFormatException">A type among these has no formatter.</exception>
    public static IReadOnlyCollection<Type> Verify(Type type)
    {
        var seen = new HashSet<Type>();
        Verify(type, [], seen);
        return seen;
    }

    public static void VerifyKey(Type type)
    {
        if (NotAKey(type, []) is not { } culprit) return;
        string because = culprit == type ? "" : $" (because of {culprit})";
        throw new TangoFormatException(FormatError.NotAKey,
            $"{type} cannot be a version key{because}: values of it that are equal may be written as different bytes");
    }

    public static TangoFormatException Missing(Type type, IEnumerable<Type> path)
    {
        string needed = string.Join(", by ", path);
        string because = needed.Length == 0 ? "" : $" (needed by {needed})";
        bool isMadeOfOthers = type.IsGenericType || type.IsArray || type.IsEnum;
        string remedy = (Hidden(type), isMadeOfOthers) switch
        {
            ({ } hidden, true) => $"generated code cannot name {hidden}, which is private: make it internal, or call "
                + "ClosedFormatters where it is visible",
            ({ } hidden, false) => $"generated code cannot name {hidden}, which is private: make it internal and mark "
                + "it [MessagePackObject], or call TangoFormatters.Register",
            (null, true) => "the generator makes one where it sees the type stored or opened; mark the type parameter "
                + "of generic code [TangoStored], or call ClosedFormatters",
            _ => "mark it [MessagePackObject] or call TangoFormatters.Register",
        };
        return new TangoFormatException(FormatError.NoFormatter, $"{type} has no formatter{because}: {remedy}");
    }

    /// <summary>The type, or one that it is made of, if only its own class can name it.</summary>
    private static Type? Hidden(Type type)
    {
        for (Type? outer = type; outer is not null; outer = outer.DeclaringType)
        {
            if (outer.IsNestedPrivate || outer.IsNestedFamily || outer.IsNestedFamANDAssem) return type;
        }

        var parts = type.HasElementType ? [type.GetElementType()!] : type.GetGenericArguments();
        return parts.Select(Hidden).FirstOrDefault(static part => part is not null);
    }

    private static void Verify(Type type, Stack<Type> path, HashSet<Type> seen)
    {
        if (!seen.Add(type)) return;
        object formatter = TangoFormatters.TryFind(type) ?? throw Missing(type, path);
        path.Push(type);
        foreach (Type part in Parts(type, formatter)) Verify(part, path, seen);
        path.Pop();
    }

    /// <summary>Whether a value may contain values of its own type, or may do so for all that is known.</summary>
    public static bool MayNest(Type type) => MayNest(type, [], []);

    private static bool MayNest(Type type, HashSet<Type> path, HashSet<Type> done)
    {
        if (!path.Add(type)) return true;
        if (done.Add(type) && TangoFormatters.TryFind(type) is { } formatter)
        {
            if (IsUsers(formatter)) return true;
            foreach (Type part in Parts(type, formatter))
            {
                if (MayNest(part, path, done)) return true;
            }
        }

        path.Remove(type);
        return false;
    }

    private static bool IsUsers(object formatter) =>
        formatter is not IGeneratedFormatter
        && formatter.GetType().Assembly != typeof(FormatterClosure).Assembly
        && formatter.GetType().Assembly != typeof(MessagePackReader).Assembly;

    private static IEnumerable<Type> Parts(Type type, object formatter)
    {
        if (formatter is IGeneratedFormatter generated) return generated.Members;
        // A formatter of the user's knows what its type is made of.
        if (IsUsers(formatter)) return [];
        if (type.IsSZArray && type != typeof(byte[])) return [type.GetElementType()!];
        return type.IsGenericType && type != typeof(ReadOnlyMemory<byte>) ? type.GetGenericArguments() : [];
    }

    /// <summary>The type to blame, or null.</summary>
    private static Type? NotAKey(Type type, HashSet<Type> seen)
    {
        if (type.IsEnum || s_keys.Contains(type) || !seen.Add(type)) return null;
        object? formatter = TangoFormatters.TryFind(type);
        if (formatter is IGeneratedFormatter generated)
        {
            return generated.HasValueEquality ? FirstNotAKey(generated.Members, seen) : type;
        }

        bool isOfParts = type.IsGenericType
            && (Nullable.GetUnderlyingType(type) is not null
                || type.GetGenericTypeDefinition() == typeof(KeyValuePair<,>)
                || typeof(System.Runtime.CompilerServices.ITuple).IsAssignableFrom(type));
        return isOfParts ? FirstNotAKey(type.GetGenericArguments(), seen) : type;
    }

    private static Type? FirstNotAKey(IReadOnlyList<Type> parts, HashSet<Type> seen)
    {
        foreach (Type part in parts)
        {
            if (NotAKey(part, seen) is { } culprit) return culprit;
        }

        return null;
    }
}
