"""Names of Java's classes and methods that Esper knows and that are not built here: texts that use them are refused as not supported,
those that use other names as wrong."""
from __future__ import annotations

from collections.abc import Mapping

from epl.value_types import ClassType, CollectionType, MapType, Scalar, ValueType

DEFAULT_IMPORTS: Mapping[str, frozenset[str]] = {
    package: frozenset(names.split())
    for package, names in {
        "java.lang": """
            AbstractMethodError Appendable ArithmeticException ArrayIndexOutOfBoundsException ArrayStoreException AssertionError
            AutoCloseable Boolean BootstrapMethodError Byte CharSequence Character Class ClassCastException ClassCircularityError
            ClassFormatError ClassLoader ClassNotFoundException ClassValue CloneNotSupportedException Cloneable Comparable Compiler
            Deprecated Double Enum EnumConstantNotPresentException Error Exception ExceptionInInitializerError Float
            FunctionalInterface IllegalAccessError IllegalAccessException IllegalArgumentException IllegalCallerException
            IllegalMonitorStateException IllegalStateException IllegalThreadStateException IncompatibleClassChangeError
            IndexOutOfBoundsException InheritableThreadLocal InstantiationError InstantiationException Integer InternalError
            InterruptedException Iterable LayerInstantiationException LinkageError Long Math Module ModuleLayer
            NegativeArraySizeException NoClassDefFoundError NoSuchFieldError NoSuchFieldException NoSuchMethodError
            NoSuchMethodException NullPointerException Number NumberFormatException Object OutOfMemoryError Override Package Process
            ProcessBuilder ProcessHandle Readable Record ReflectiveOperationException Runnable Runtime RuntimeException
            RuntimePermission SafeVarargs SecurityException SecurityManager Short StackOverflowError StackTraceElement StackWalker
            StrictMath String StringBuffer StringBuilder StringIndexOutOfBoundsException SuppressWarnings System Thread ThreadDeath
            ThreadGroup ThreadLocal Throwable TypeNotPresentException UnknownError UnsatisfiedLinkError UnsupportedClassVersionError
            UnsupportedOperationException VerifyError VirtualMachineError Void
        """,
        "java.math": """
            BigDecimal BigInteger MathContext RoundingMode
        """,
        "java.text": """
            Annotation AttributedCharacterIterator AttributedString Bidi BreakIterator CharacterIterator ChoiceFormat
            CollationElementIterator CollationKey Collator CompactNumberFormat DateFormat DateFormatSymbols DecimalFormat
            DecimalFormatSymbols FieldPosition Format MessageFormat Normalizer NumberFormat ParseException ParsePosition
            RuleBasedCollator SimpleDateFormat StringCharacterIterator
        """,
        "java.util": """
            AbstractCollection AbstractList AbstractMap AbstractQueue AbstractSequentialList AbstractSet ArrayDeque ArrayList Arrays
            Base64 BitSet Calendar Collection Collections Comparator ConcurrentModificationException Currency Date Deque Dictionary
            DoubleSummaryStatistics DuplicateFormatFlagsException EmptyStackException EnumMap EnumSet Enumeration EventListener
            EventListenerProxy EventObject FormatFlagsConversionMismatchException Formattable FormattableFlags Formatter
            FormatterClosedException GregorianCalendar HashMap HashSet Hashtable HexFormat IdentityHashMap
            IllegalFormatCodePointException IllegalFormatConversionException IllegalFormatException IllegalFormatFlagsException
            IllegalFormatPrecisionException IllegalFormatWidthException IllformedLocaleException InputMismatchException
            IntSummaryStatistics InvalidPropertiesFormatException Iterator LinkedHashMap LinkedHashSet LinkedList List ListIterator
            ListResourceBundle Locale LongSummaryStatistics Map MissingFormatArgumentException MissingFormatWidthException
            MissingResourceException NavigableMap NavigableSet NoSuchElementException Objects Observable Observer Optional
            OptionalDouble OptionalInt OptionalLong PrimitiveIterator PriorityQueue Properties PropertyPermission
            PropertyResourceBundle Queue Random RandomAccess ResourceBundle Scanner ServiceConfigurationError ServiceLoader Set
            SimpleTimeZone SortedMap SortedSet Spliterator Spliterators SplittableRandom Stack StringJoiner StringTokenizer TimeZone
            Timer TimerTask TooManyListenersException TreeMap TreeSet UUID UnknownFormatConversionException
            UnknownFormatFlagsException Vector WeakHashMap
        """,
    }.items()
}
"""The public classes of the packages whose classes need no package in EPL, as of Java 17."""

METHODS: Mapping[str, frozenset[str]] = {
    name: frozenset(names.split())
    for name, names in {
        "String": """
            chars codePointBefore codePointCount codePoints describeConstable formatted getChars indent lines offsetByCodePoints
            resolveConstantDesc stripIndent transform translateEscapes
        """,
        "Integer": """
            compareUnsigned decode describeConstable divideUnsigned getInteger parseUnsignedInt remainderUnsigned
            resolveConstantDesc reverseBytes rotateLeft rotateRight toUnsignedLong toUnsignedString
        """,
        "Long": """
            compareUnsigned decode describeConstable divideUnsigned getLong parseUnsignedLong remainderUnsigned resolveConstantDesc
            reverseBytes rotateLeft rotateRight toUnsignedString
        """,
        "Math": """
            IEEEremainder absExact fma getExponent multiplyFull multiplyHigh nextAfter nextDown nextUp scalb
        """,
        "Collection": """
            addAll clear copyOf forEach iterator listIterator of parallelStream remove removeAll removeIf retainAll sort spliterator
            stream toArray
        """,
        "Map": """
            clear compute computeIfAbsent computeIfPresent copyOf entry entrySet forEach merge of ofEntries put putAll putIfAbsent
            remove
        """,
        "Date": """
            UTC clone from getTimezoneOffset parse setDate setHours setMinutes setMonth setSeconds setTime setYear toGMTString
            toInstant toLocaleString
        """,
        "Calendar": """
            clear clone getActualMaximum getActualMinimum getCalendarType getDisplayName getDisplayNames getFirstDayOfWeek
            getGreatestMinimum getInstance getLeastMaximum getMaximum getMinimalDaysInFirstWeek getMinimum getTimeZone
            getWeeksInWeekYear isLenient isSet isWeekDateSupported roll setFirstDayOfWeek setLenient setMinimalDaysInFirstWeek
            setTime setTimeInMillis setTimeZone setWeekDate toInstant
        """,
        "BigDecimal": """
            byteValueExact divideAndRemainder divideToIntegralValue intValueExact longValueExact movePointLeft movePointRight round
            scaleByPowerOfTen shortValueExact sqrt toBigIntegerExact toEngineeringString ulp
        """,
        "BigInteger": """
            and andNot bitCount byteValueExact clearBit divideAndRemainder flipBit getLowestSetBit intValueExact isProbablePrime
            longValueExact modInverse modPow nextProbablePrime not or probablePrime setBit shiftLeft shiftRight shortValueExact sqrt
            sqrtAndRemainder testBit toByteArray xor
        """,
        "LocalDateTime": """
            adjustInto atOffset atZone from getChronology getLong isSupported minusNanos now ofEpochSecond ofInstant plusNanos query
            range toInstant truncatedTo until with withDayOfMonth withDayOfYear withHour withMinute withMonth withNano withSecond
            withYear
        """,
        "ZonedDateTime": """
            from getChronology getLong getOffset getZone isSupported minusNanos now of ofInstant ofLocal ofStrict plusNanos query
            range toInstant toOffsetDateTime truncatedTo until with withDayOfMonth withDayOfYear withEarlierOffsetAtOverlap
            withFixedOffsetZone withHour withLaterOffsetAtOverlap withMinute withMonth withNano withSecond withYear
            withZoneSameInstant withZoneSameLocal
        """,
        "Character": """
            charCount codePointBefore codePointCount codePointOf describeConstable digit forDigit getDirectionality getName getType
            highSurrogate isBmpCodePoint isDefined isHighSurrogate isISOControl isIdentifierIgnorable isIdeographic
            isJavaIdentifierPart isJavaIdentifierStart isLowSurrogate isMirrored isSupplementaryCodePoint isSurrogate
            isSurrogatePair isTitleCase isUnicodeIdentifierPart isUnicodeIdentifierStart isValidCodePoint lowSurrogate
            offsetByCodePoints reverseBytes toChars toCodePoint toTitleCase
        """,
    }.items()
}
"""By class, methods that are not built of classes that are built for the rest. A list has those of Collection."""
OF_ALL = frozenset({"getClass", "notify", "notifyAll", "wait"})


def is_java_class(name: str) -> bool:
    """Return whether Esper finds a class of the Java platform by the name, as written in EPL. Of packages other than ``DEFAULT_IMPORTS``,
    any class may exist.

    >>> [is_java_class(n) for n in ("Random", "java.util.Random", "java.util.Foo", "java.time.Duration", "com.acme.Order", "Foo")]
    [True, True, False, True, False, False]
    """
    *packages, simple = name.split(".")
    package, outer = ".".join(packages), simple.split("$")[0]
    if not package:
        return any(simple in names for names in DEFAULT_IMPORTS.values())
    if package in DEFAULT_IMPORTS:
        return outer in DEFAULT_IMPORTS[package]
    return package.startswith(("java.", "javax.")) and outer[:1].isupper()


def has_method(owner: str, method: str) -> bool:
    """Return whether a class that is built here, by its simple or full name, has a method in Java that is not built."""
    return method in METHODS.get(owner.rsplit(".", 1)[-1], ())


def value_has_method(value_type: ValueType, method: str) -> bool:
    """Return whether values of the type have a method in Java that is not built."""
    match value_type:
        case Scalar():
            return method in OF_ALL or has_method(str(value_type.boxed), method)
        case CollectionType():
            return method in OF_ALL or has_method("Collection", method)
        case MapType():
            return method in OF_ALL or has_method("Map", method)
        case ClassType(name=name):
            return is_java_class(name)
    return False


__all__ = ["has_method", "is_java_class", "value_has_method"]
